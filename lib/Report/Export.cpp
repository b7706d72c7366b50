//===- Export.cpp - Plans as settings of other systems --------------------===//

#include "autopar/Report/Export.h"
#include "ExportSizes.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Parts of files
//===----------------------------------------------------------------------===//

/// Returns the text as a comment of one line. Control characters become `?`,
/// because a model's names may contain any bytes.
static std::string comment(StringRef text) {
  std::string line = "# " + text.str();
  for (char &c : line)
    if (!isPrint(c) && isASCII(c))
      c = '?';
  return line + "\n";
}

static std::string heading(const Plan &plan, const ExportSystem &system) {
  return comment("autopar's plan of " + plan.model + " for " +
                 describe(plan.cluster) + ", as settings of " +
                 system.name.str());
}

static std::string comments(ArrayRef<std::string> remarks) {
  std::string text;
  for (const std::string &remark : remarks)
    text += comment("Not the plan's: " + remark);
  return text;
}

static void remarkOnPrecision(const Plan &plan, const ExportSystem &system,
                              ExportSizes &sizes) {
  if (plan.precision == "tf32")
    sizes.remarks.push_back(
        (system.name + " has no setting for tf32: it is "
                       "torch.backends.cuda.matmul.allow_tf32 of the program")
            .str());
}

static std::string layerList(const ExportSizes &sizes) {
  return join(map_range(sizes.layersOfStage,
                        [](int64_t count) { return std::to_string(count); }),
              ",");
}

//===----------------------------------------------------------------------===//
// Megatron-LM: arguments of its command line, as an array of the shell
//===----------------------------------------------------------------------===//

namespace {

/// An argument `--name value`, or `--name` alone.
struct Argument {
  StringRef name;
  std::string value;
};

} // namespace

/// Returns the layout of a pipeline, such as `'Ett|ttt|tL'`: the embedding, the
/// layers of each stage, and the loss.
static std::string megatronLayout(ArrayRef<int64_t> layersOfStage) {
  std::vector<std::string> stages;
  for (int64_t layers : layersOfStage)
    stages.push_back(std::string(layers, 't'));
  return "'E" + join(stages, "|") + "L'";
}

static void addMegatronZero(unsigned stage, std::vector<Argument> &arguments) {
  if (stage == 0)
    return;
  arguments.push_back({"--use-distributed-optimizer", ""});
  if (stage == 1)
    return;
  arguments.push_back({"--use-megatron-fsdp", ""});
  arguments.push_back({"--data-parallel-sharding-strategy",
                       stage == 2 ? "optim_grads" : "optim_grads_params"});
  arguments.push_back({"--ckpt-format", "fsdp_dtensor"}); // FSDP needs it
}

static std::string toMegatron(const Plan &plan, const ExportSystem &system,
                              ExportSizes &sizes) {
  if (sizes.expert > 1 && sizes.tensor > 1 && !sizes.sequenceParallel) {
    sizes.sequenceParallel = true;
    sizes.remarks.push_back(
        "Megatron-LM wants --sequence-parallel where experts and weights are "
        "split, the plan does not");
  }
  std::vector<Argument> arguments;
  auto add = [&](StringRef name, int64_t value) {
    arguments.push_back({name, std::to_string(value)});
  };
  add("--tensor-model-parallel-size", sizes.tensor);
  add("--pipeline-model-parallel-size", sizes.pipeline);
  add("--context-parallel-size", sizes.context);
  if (sizes.sequenceParallel)
    arguments.push_back({"--sequence-parallel", ""});
  if (sizes.expert > 1) {
    add("--expert-model-parallel-size", sizes.expert);
    add("--expert-tensor-parallel-size", sizes.expertTensor);
  }
  if (!sizes.evenLayers())
    arguments.push_back({"--pipeline-model-parallel-layout",
                         megatronLayout(sizes.layersOfStage)});
  add("--micro-batch-size", sizes.microBatchRows);
  add("--global-batch-size", sizes.rows());
  if (plan.precision == "bf16" || plan.precision == "fp16")
    arguments.push_back({plan.precision == "bf16" ? "--bf16" : "--fp16", ""});
  addMegatronZero(sizes.zeroStage, arguments);
  std::string text = heading(plan, system);
  text += comment(formatv("source it, then start {0} processes of a training "
                          "script with \"${{PLAN_ARGS[@]}\" and the model's "
                          "own arguments",
                          plan.cluster.deviceCount())
                      .str());
  text += comments(sizes.remarks) + "PLAN_ARGS=(\n";
  for (const Argument &argument : arguments)
    text += "    " + argument.name.str() +
            (argument.value.empty() ? "" : " " + argument.value) + "\n";
  return text + ")\n";
}

//===----------------------------------------------------------------------===//
// vLLM: a file for `vllm serve --config`
//===----------------------------------------------------------------------===//

static std::string toVllm(const Plan &plan, const ExportSystem &system,
                          ExportSizes &sizes) {
  if (sizes.expert > 1 && sizes.expert != sizes.data * sizes.tensor)
    sizes.remarks.push_back(formatv("experts are split over {0} devices: vLLM "
                                    "splits them over all of its data and "
                                    "tensor axes, {1}",
                                    sizes.expert, sizes.data * sizes.tensor));
  if (sizes.microBatches > 1)
    sizes.remarks.push_back(
        formatv("{0} micro-batches: vLLM makes its own", sizes.microBatches));
  if (!sizes.evenLayers())
    sizes.remarks.push_back("stages of unequal layers are no argument of vLLM: "
                            "set VLLM_PP_LAYER_PARTITION=" +
                            layerList(sizes) + " in its environment");
  std::string text = heading(plan, system) + comments(sizes.remarks);
  raw_string_ostream os(text);
  os << "tensor-parallel-size: " << sizes.tensor << "\n"
     << "pipeline-parallel-size: " << sizes.pipeline << "\n"
     << "data-parallel-size: " << sizes.data << "\n";
  if (sizes.expert > 1)
    os << "enable-expert-parallel: true\n";
  os << "dtype: "
     << (plan.precision == "bf16"   ? "bfloat16"
         : plan.precision == "fp16" ? "float16"
                                    : "float32")
     << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// DeepSpeed: its JSON file, which has no comments
//===----------------------------------------------------------------------===//

static std::string toDeepSpeed(const Plan &plan, const ExportSystem &,
                               ExportSizes &sizes) {
  auto remark = [&](const Twine &text) { sizes.remarks.push_back(text.str()); };
  json::Object object{
      {"train_batch_size", sizes.rows()},
      {"train_micro_batch_size_per_gpu", sizes.microBatchRows},
      {"gradient_accumulation_steps", sizes.microBatches},
      {"zero_optimization", json::Object{{"stage", sizes.zeroStage}}}};
  if (plan.precision == "bf16" || plan.precision == "fp16")
    object[plan.precision] = json::Object{{"enabled", true}};
  if (sizes.tensor > 1)
    object["tensor_parallel"] = json::Object{{"autotp_size", sizes.tensor}};
  if (sizes.context > 1) {
    object["data_parallel_size"] = sizes.data;
    object["sequence_parallel_size"] = sizes.context;
    remark("DeepSpeed splits the sequence where the program calls its "
           "attention (Ulysses)");
  }
  if (sizes.expert > 1)
    object["expert_parallel"] =
        json::Object{{"enabled", true}, {"autoep_size", sizes.expert}};
  if (sizes.pipeline > 1) {
    object["pipeline"] = json::Object{{"stages", sizes.pipeline}};
    remark(
        "DeepSpeed takes stages from the program: PipelineModule(num_stages=" +
        Twine(sizes.pipeline) + ")" +
        (sizes.evenLayers() ? Twine()
                            : ", layers of each stage " + layerList(sizes)));
  }
  if (!sizes.training)
    remark("the plan is of inference, the settings are of training");
  if (sizes.zeroStage > 1 && sizes.pipeline > 1)
    remark("DeepSpeed has no pipelines with ZeRO-2 and ZeRO-3");
  return formatv("{0:2}", json::Value(std::move(object))).str() + "\n";
}

//===----------------------------------------------------------------------===//
// The systems
//===----------------------------------------------------------------------===//

namespace {

struct Exporter {
  ExportSystem system;
  std::string (*write)(const Plan &, const ExportSystem &, ExportSizes &);
};

} // namespace

static ArrayRef<Exporter> exporters() {
  static constexpr Exporter kExporters[] = {
      {{"megatron", "Megatron-LM"}, toMegatron},
      {{"vllm", "vLLM", /*training=*/false, /*context=*/false,
        /*sequenceParallel=*/false},
       toVllm},
      {{"deepspeed", "DeepSpeed", /*training=*/true, /*context=*/true,
        /*sequenceParallel=*/false},
       toDeepSpeed}};
  return kExporters;
}

ArrayRef<StringRef> exportSystems() {
  static const SmallVector<StringRef> names =
      to_vector(map_range(exporters(), [](const Exporter &exporter) {
        return exporter.system.option;
      }));
  return names;
}

Expected<ExportedPlan> exportPlan(const Plan &plan, const ModelGraph &graph,
                                  StringRef system) {
  const Exporter *exporter = find_if(exporters(), [&](const Exporter &e) {
    return e.system.option == system;
  });
  if (exporter == exporters().end())
    return createStringError("write one of " + join(exportSystems(), ", ") +
                             didYouMean(system, exportSystems()));
  Expected<ExportSizes> sizes = exportSizes(plan, graph, exporter->system);
  if (!sizes)
    return sizes.takeError();
  if (sizes->training && !exporter->system.training)
    return createStringError(exporter->system.name +
                             " serves models and trains none, but the plan is "
                             "of a training step");
  remarkOnPrecision(plan, exporter->system, *sizes);
  std::string text = exporter->write(plan, exporter->system, *sizes);
  return ExportedPlan{std::move(text), std::move(sizes->remarks)};
}

} // namespace autopar

//===- CudaHostPrinter.cpp - The host program as C++ ----------------------===//
//
// Prints the calls that EmitHost.cpp makes functions of, from the same lists: a
// statement per call with the ONNX node above it, and a function per repeated
// layer with a table of the places that differ in its repetitions.
//
//===----------------------------------------------------------------------===//

#include "CudaHostTables.h"
#include "CudaSource.h"
#include "CudaText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace autopar::gpu {

namespace {

class HostPrinter {
public:
  HostPrinter(HostProgram &program) : program(program) {}
  void print(ArrayRef<std::string> functions, StringRef manifest,
             raw_ostream &os);

private:
  std::string function(const HostListing &listing);
  std::string bodyOf(ArrayRef<HostCall> calls, const HostLoop &loop,
                     PlaceTable &table);
  std::string call(const HostCall &call, const HostLoop &loop,
                   PlaceTable &table);
  std::string argument(const HostCall &call, size_t number,
                       const HostLoop &loop, PlaceTable &table);
  std::string element(const HostArgument &argument, const HostLoop &loop,
                      PlaceTable &table);
  std::string words(const abi::Parameter &parameter,
                    const HostArgument &argument, const HostLoop &loop,
                    PlaceTable &table);
  std::string position(ArrayAttr axes);
  std::string repeated(const HostLoop &loop);
  std::string persistentComment(StringRef manifest);
  Descriptors *descriptorsOf(const abi::Parameter &parameter);

  HostProgram &program;
  std::vector<Descriptors> descriptors = Descriptors::all();
  std::map<std::string, std::string> layers; // function by its text
  std::string layerTexts;
  int64_t tables = 0;
};

std::vector<int64_t> valuesOf(const HostArgument &argument,
                              const HostLoop &loop) {
  std::vector<int64_t> values(loop.count, argument.value);
  if (argument.column >= 0)
    for (auto [value, moved] :
         llvm::zip_equal(values, loop.columns[argument.column]))
      value += moved;
  return values;
}

Descriptors *HostPrinter::descriptorsOf(const abi::Parameter &parameter) {
  for (Descriptors &known : descriptors)
    if (known.areOf(parameter.descriptor))
      return &known;
  return nullptr;
}

/// The rank's index along mesh axes; digits of the time axis from t.
std::string HostPrinter::position(ArrayAttr axes) {
  auto ask = [&](ArrayAttr along) {
    return llvm::formatv("{0}(rank, {1})", abi::nameOf<aprt_axis_index>,
                         program.communicator(along))
        .str();
  };
  SmallVector<unsigned> subAxes;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (auto found = program.mesh.lookup(axis.getValue()))
      llvm::append_range(subAxes, *found);
  auto isTime = [&](unsigned subAxis) {
    return program.mesh.subAxes()[subAxis].time;
  };
  if (llvm::none_of(subAxes, isTime))
    return ask(axes);
  Builder builder(axes.getContext());
  std::string text;
  for (unsigned subAxis : subAxes) {
    const SubAxis &what = program.mesh.subAxes()[subAxis];
    std::string digit =
        what.time
            ? llvm::formatv("t / {0} % {1}", what.divisor, what.size).str()
            : ask(builder.getStrArrayAttr(StringRef(what.name)));
    text =
        text.empty()
            ? digit
            : llvm::formatv("({0}) * {1} + {2}", text, what.size, digit).str();
  }
  return text;
}

std::string HostPrinter::words(const abi::Parameter &parameter,
                               const HostArgument &argument,
                               const HostLoop &loop, PlaceTable &table) {
  std::vector<int64_t> values = valuesOf(argument, loop);
  if (Descriptors *known = descriptorsOf(parameter)) {
    for (int64_t &value : values)
      value = known->number(value);
    return llvm::formatv("&{0}[{1}]", known->name(),
                         table.place("desc", values));
  }
  size_t count = cast<DenseI64ArrayAttr>(argument.attribute).size();
  auto list = program.givenWords().slice(values.front(), count);
  return "words({" +
         llvm::join(
             llvm::map_range(list,
                             [](int64_t word) { return std::to_string(word); }),
             ", ") +
         "})";
}

std::string HostPrinter::element(const HostArgument &argument,
                                 const HostLoop &loop, PlaceTable &table) {
  switch (argument.kind) {
  case HostArgument::Null:
    return "nullptr";
  case HostArgument::Constant:
    return literalText(argument.attribute).value_or("0");
  case HostArgument::Kernel:
    return program.kernels[cast<IntegerAttr>(argument.attribute).getInt()].name;
  case HostArgument::Position:
    return position(cast<ArrayAttr>(argument.attribute));
  case HostArgument::Arena:
    return "arena + " + table.place("arena", valuesOf(argument, loop));
  case HostArgument::Persistent:
    return "tensor(rank, " + table.place("tensor", valuesOf(argument, loop)) +
           ")";
  case HostArgument::Op:
    return table.place("op", valuesOf(argument, loop));
  case HostArgument::Tensor:
    return table.place("tensor", valuesOf(argument, loop));
  case HostArgument::Offset: // in inputs of a CPU
  case HostArgument::Function:
  case HostArgument::Array:
  case HostArgument::Words:
    break;
  }
  llvm_unreachable("made by the caller");
}

/// Returns whether the program's own function `launch` makes the call.
bool launches(const HostCall &call) {
  return call.callee == &abi::function<aprt_launch_grid>;
}

std::string HostPrinter::argument(const HostCall &call, size_t number,
                                  const HostLoop &loop, PlaceTable &table) {
  const HostArgument &argument = call.arguments[number];
  const abi::Parameter &parameter = call.callee->parameters[number];
  bool isLaunch = launches(call);
  if (argument.kind == HostArgument::Constant && !parameter.values.empty())
    return abi::textOf(parameter.values,
                       cast<IntegerAttr>(argument.attribute).getInt());
  if (argument.kind == HostArgument::Words)
    return words(parameter, argument, loop, table);
  if (isLaunch && argument.kind == HostArgument::Null)
    return "{}";
  if (argument.kind == HostArgument::Op ||
      argument.kind == HostArgument::Tensor) {
    std::string place = element(argument, loop, table);
    return llvm::isDigit(place.front()) ? place : "int32_t(" + place + ")";
  }
  if (argument.kind != HostArgument::Array)
    return element(argument, loop, table);
  SmallVector<std::string> elements;
  for (const HostArgument &each : argument.elements)
    elements.push_back(element(each, loop, table));
  std::string list = "{" + llvm::join(elements, ", ") + "}";
  return isLaunch ? list : "words(" + list + ")";
}

std::string HostPrinter::call(const HostCall &call, const HostLoop &loop,
                              PlaceTable &table) {
  std::string text;
  bool hasOp = !call.arguments.empty() &&
               call.arguments.front().kind == HostArgument::Op;
  if (hasOp) {
    int64_t row = valuesOf(call.arguments.front(), loop).front();
    text += "  // " + commentText(program.ops[row].name);
    if (loop.count > 1)
      text += llvm::formatv(", and its like in {0} more", loop.count - 1);
    text += "\n";
  }
  SmallVector<std::string> arguments{"rank"};
  for (size_t number = 0; number < call.arguments.size(); ++number)
    arguments.push_back(argument(call, number, loop, table));
  StringRef callee = call.callee->name;
  if (launches(call))
    callee = "launch";
  return text +
         wrapped(("  TRY(" + callee + "(" + llvm::join(arguments, ", ") + "));")
                     .str()) +
         "\n";
}

/// Defines `arena` for a body that uses it.
std::string arenaText(StringRef body) {
  if (!body.contains("arena + "))
    return "";
  return llvm::formatv(
      "  char *const arena = static_cast<char *>({0}(rank));\n",
      abi::nameOf<aprt_arena>);
}

std::string HostPrinter::bodyOf(ArrayRef<HostCall> calls, const HostLoop &loop,
                                PlaceTable &table) {
  std::string text;
  for (const HostCall &each : calls)
    text += call(each, loop, table);
  return arenaText(text) + text;
}

/// A loop over the rows of a table, each a call of the layer's function.
std::string HostPrinter::repeated(const HostLoop &loop) {
  PlaceTable table(loop.count);
  std::string body = bodyOf(loop.body, loop, table);
  std::string key = table.structText("") + body;
  auto [it, isNew] = layers.try_emplace(key);
  if (isNew) {
    std::string number = std::to_string(layers.size() - 1);
    it->second = "layer_" + number;
    std::string places = "Places_" + number;
    bool usesTime = mentions(body, "t");
    layerTexts += "\n" + table.structText(places) +
                  llvm::formatv("static aprt_status layer_{0}(aprt_rank *rank, "
                                "int64_t{1}, const {2} &at) {{\n{3}"
                                "  return 0;\n}\n",
                                number, usesTime ? " t" : "", places, body)
                      .str();
  }
  std::string places = "Places_" + it->second.substr(6);
  std::string name = "places_" + std::to_string(tables++);
  return llvm::formatv("  static const {0} {1}[] = {{\n{2}  };\n"
                       "  for (const {0} &at : {1})\n"
                       "    TRY({3}(rank, t, at));\n",
                       places, name, table.rowsText(), it->second);
}

std::string HostPrinter::function(const HostListing &listing) {
  std::string body;
  PlaceTable none(1);
  for (const HostLoop &loop : listing.loops) {
    if (!loop.columns.empty()) {
      body += repeated(loop);
      continue;
    }
    for (const HostCall &each : loop.body)
      body += call(each, loop, none);
  }
  std::string head =
      llvm::formatv("\nstatic aprt_status {0}(aprt_rank *rank", listing.name);
  if (listing.hasTime)
    head += mentions(body, "t") ? ", int64_t t" : ", int64_t";
  head += ") {\n";
  if (!listing.hasTime && mentions(body, "t"))
    head += "  const int64_t t = 0;\n";
  head += arenaText(body);
  if (!mentions(body, "rank"))
    head += "  (void)rank;\n";
  return head + body + "  return 0;\n}\n";
}

/// The persistent tensors by number.
std::string HostPrinter::persistentComment(StringRef manifest) {
  auto parsed = llvm::json::parse(manifest);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return "";
  }
  std::string text = "\n// Persistent tensors, by number\n";
  const llvm::json::Object *object = parsed->getAsObject();
  const llvm::json::Array *stages =
      object ? object->getArray("persistent") : nullptr;
  if (!stages)
    return "";
  for (auto [stage, list] : llvm::enumerate(*stages)) {
    if (stages->size() > 1)
      text += llvm::formatv("// of stage {0}\n", stage);
    for (auto [number, entry] : llvm::enumerate(*list.getAsArray())) {
      const llvm::json::Object &row = *entry.getAsObject();
      std::string shape;
      for (const llvm::json::Value &size : *row.getArray("shape"))
        shape += llvm::formatv("{0}x", *size.getAsInteger());
      text += llvm::formatv("//   {0}: {1} {2}{3}\n", number,
                            commentText(row.getString("name").value_or("")),
                            shape, row.getString("dtype").value_or(""));
    }
  }
  return text;
}

constexpr StringLiteral kHead =
    R"(//===- program.cpp - What the host does ---===//
//
// Written by autopar. For each stage of the pipeline setup_S runs once and
// step_S for each micro-batch t; they call the runtime (autopar/runtime.h), of
// which every rank runs the same: rows of "ops" in manifest.json are the first
// argument, so that reports and errors name the ONNX node.
//
//===----------------------------------------------------------------------===//

#include <autopar/runtime.h>
#include <initializer_list>

#define TRY(call)                                                              \
  do {                                                                         \
    if (aprt_status status = (call))                                           \
      return status;                                                           \
  } while (false)

)";

// Checks the types that the text below passes.
static_assert(
    std::is_same_v<decltype(aprt_launch_grid),
                   aprt_status(aprt_rank *, int32_t op, int32_t kernel,
                               void *const *buffers, const int64_t *scalars,
                               int64_t blocks)> &&
    std::is_same_v<decltype(aprt_persistent), void *(aprt_rank *, int32_t)>);
constexpr StringLiteral kLaunch = R"(
/// Launches `blocks` blocks of a kernel of kernels.cu: the pointers, then the
/// numbers, are its arguments.
[[maybe_unused]] static aprt_status
launch(aprt_rank *rank, int32_t op, Kernel kernel,
       std::initializer_list<void *> buffers,
       std::initializer_list<int64_t> scalars, int64_t blocks) {
  return aprt_launch_grid(rank, op, kernel, buffers.begin(), scalars.begin(),
                          blocks);
}

[[maybe_unused]] static void *tensor(aprt_rank *rank, int64_t number) {
  return aprt_persistent(rank, int32_t(number));
}

/// For the time of a call.
[[maybe_unused]] static const int64_t *
words(std::initializer_list<int64_t> list) {
  return list.begin();
}
)";

void HostPrinter::print(ArrayRef<std::string> functions, StringRef manifest,
                        raw_ostream &os) {
  std::string bodies;
  for (const HostListing &listing : program.listings)
    bodies += function(listing);
  os << kHead << "/// The kernels of kernels.cu, by number.\n"
     << "enum Kernel : int32_t {\n";
  for (const ProgramKernel &row : program.kernels)
    os << "  " << row.name << ",\n";
  os << "};\n" << kLaunch << persistentComment(manifest);
  for (const Descriptors &known : descriptors)
    os << known.text(program.givenWords());
  os << layerTexts << bodies << "\nextern \"C\" {\n"
     << "const aprt_stage_functions aprt_program_stages[] = {\n";
  for (size_t stage = 0; stage + 1 < functions.size(); stage += 2)
    os << "    {" << functions[stage] << ", " << functions[stage + 1] << "},\n";
  os << "};\n}\n";
}

} // namespace

void printHostProgram(HostProgram &program, ArrayRef<std::string> functions,
                      StringRef manifest, raw_ostream &os) {
  HostPrinter(program).print(functions, manifest, os);
}

} // namespace autopar::gpu

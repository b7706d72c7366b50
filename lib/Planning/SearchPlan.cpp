//===- SearchPlan.cpp - The pass that plans -------------------------------===//

#include "AssignTarget.h"
#include "CountedPlan.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Constraints/KeptText.h"
#include "autopar/Planning/Constraints/StoredTensors.h"
#include "autopar/Planning/Passes.h"
#include "autopar/Planning/Plan/Padding.h"
#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Planning/ReadModel.h"
#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Planning/WritePlan.h"
#include "autopar/Support/Text.h"
#include <limits>

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_SEARCHPLAN
#include "autopar/Planning/Passes.h.inc"

namespace {

struct SearchPlan : impl::SearchPlanBase<SearchPlan> {
  explicit SearchPlan(SearchPlanOptions options = {},
                      PlannedModel *planned = nullptr,
                      const StoredTensors *stored = nullptr,
                      CountProgram count = nullptr)
      : SearchPlanBase(std::move(options)), planned(planned), stored(stored),
        count(std::move(count)) {
    addRequestOptions();
  }
  /// Makes options of its own; Pass::clone copies their values.
  SearchPlan(const SearchPlan &other)
      : SearchPlanBase(other), planned(other.planned), stored(other.stored),
        count(other.count) {
    addRequestOptions();
  }

  void runOnOperation() override {
    llvm::Expected<PlanRequest> request = readRequest();
    if (!request)
      return fail(request.takeError());
    if (llvm::Error error = readOldPlan(*request))
      return fail(std::move(error));
    if (request->cluster.nodes.empty())
      return fail(llvm::createStringError(
          AutoparDialect::kRequest +
          " names no cluster; a plan file may (autopar-apply-plan)"));
    // Sets the target before the model is read: a program for GPUs is planned
    // with the table of the GPU.
    if (failed(assignTarget(getOperation(), request->cluster)))
      return signalPassFailure();
    FailureOr<ModelGraph> graph = readModel(getOperation());
    if (failed(graph))
      return signalPassFailure();
    std::vector<SearchTrial> tried;
    std::string refusal;
    llvm::Expected<Plan> plan = planWhatFits(*graph, *request, tried, refusal);
    if (!plan)
      return fail(plan.takeError());
    if (failed(counted))
      return signalPassFailure();
    std::string kept = describeKept(*request, *graph, *plan);
    if (!saveTo.empty())
      if (llvm::Error error = writePlanFile(EntryPlan{"", *plan}, saveTo))
        return fail(std::move(error));
    if (planned)
      *planned = {std::move(*plan), std::move(*graph), std::move(tried),
                  std::move(kept), std::move(refusal)};
  }

private:
  /// Searches a plan, writes it, and counts its program. The search estimates
  /// memory. If the program exceeds the limit after all, the plan of a training
  /// step holds fewer copies and leaves the excess free, besides what it left
  /// free before, and so much that it is not the same plan again. If that does
  /// not free enough, and for inference, the search starts anew. A search
  /// bounds all plans that it could take, so the least of all bounds holds.
  llvm::Expected<Plan> planWhatFits(const ModelGraph &graph,
                                    PlanRequest &request,
                                    std::vector<SearchTrial> &tried,
                                    std::string &refusal) {
    double bound = std::numeric_limits<double>::infinity();
    llvm::Expected<Plan> plan = search(graph, request, tried, refusal);
    while (plan) {
      complete(graph, request, *plan);
      bound = std::min(bound, plan->lowerBoundSeconds);
      if (request.reservedBytes > 0)
        plan->setLowerBound(bound);
      writePlan(getOperation(), graph, *plan);
      counted = countPlanned(getOperation(), *plan, count,
                             [&](OpPassManager &manager, Operation *op) {
                               return runPipeline(manager, op);
                             });
      for (SearchTrial &trial : tried)
        if (trial.best)
          trial.peakMemoryBytes = plan->predictedPeakMemoryBytes;
      if (failed(counted) || counted->bytes == 0)
        return plan;
      request.reservedBytes = std::max(request.reservedBytes + counted->bytes,
                                       counted->estimatedRoom + 1);
      bool isKept = holdFewerCopies(graph, request, *plan, tried);
      emitWarning(getOperation().getLoc())
          << counted->text << ": the "
          << (isKept ? "plan holds fewer copies" : "search starts anew")
          << " and leaves " << bytesText(double(request.reservedBytes))
          << " of the limit free";
      if (!isKept)
        plan = search(graph, request, tried, refusal);
    }
    return plan;
  }

  /// Adds to a plan what follows from its decisions and from the request.
  void complete(const ModelGraph &graph, const PlanRequest &request,
                Plan &plan) const {
    plan.request = requestOfPlan(request);
    if (request.reservedBytes > 0)
      plan.request[kReservedBytes] = request.reservedBytes;
    if (int64_t all = request.cluster.deviceCount();
        plan.cluster.deviceCount() < all)
      plan.request[kAllDevices] = all;
    if (request.from)
      takeBound(plan, request.from->plan);
    padOperands(graph, plan);
  }

  /// Returns a plan that stores all tensors as entries before it do. If there
  /// is none, returns a plan that is free to store them otherwise.
  llvm::Expected<Plan> search(const ModelGraph &graph, PlanRequest &request,
                              std::vector<SearchTrial> &tried,
                              std::string &refusal) {
    request.stored = stored && !stored->empty() ? stored : nullptr;
    tried.clear();
    refusal.clear();
    llvm::raw_ostream *told = trace ? &llvm::errs() : nullptr;
    llvm::Expected<Plan> plan = searchPlan(graph, request, told, &tried);
    if (plan || !request.stored)
      return plan;
    refusal = llvm::toString(plan.takeError());
    request.stored = nullptr;
    tried.clear();
    return searchPlan(graph, request, told, &tried);
  }

  void fail(llvm::Error error) {
    emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
    signalPassFailure();
  }

  /// Reads the old plan; its cluster is used if the request names none.
  llvm::Error readOldPlan(PlanRequest &request) {
    if (from.empty())
      return llvm::Error::success();
    llvm::Expected<Plan> old = readOldPlanFile(from, entry);
    if (!old)
      return old.takeError();
    if (request.cluster.nodes.empty())
      request.cluster = old->cluster;
    request.from =
        std::make_shared<const OldPlan>(OldPlan{from, std::move(*old)});
    return llvm::Error::success();
  }

  /// Adds the options of the table to those of the pass.
  void addRequestOptions() {
    for (const RequestOption &option : kRequestOptions)
      asked.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.help)));
  }

  /// Returns whether an option asks something of the plan.
  bool isAsked() const {
    return ranks != 0 || !cluster.empty() ||
           llvm::any_of(asked, [](const auto &text) { return !text->empty(); });
  }

  /// Returns the request of the module or, if it has none, that of the options.
  llvm::Expected<PlanRequest> readRequest() {
    if (auto given = getOperation()->getAttrOfType<DictionaryAttr>(
            AutoparDialect::kRequest)) {
      if (isAsked())
        return llvm::createStringError(
            "the module says what is asked of its plan (" +
            AutoparDialect::kRequest +
            "), and so do options of the pass; remove one of the two");
      return requestFromAttribute(given);
    }
    PlanRequest request;
    llvm::Expected<Cluster> parsed =
        cluster.empty() ? clusterOfRanks(ranks == 0 ? 1 : int64_t(ranks))
                        : parseCluster(cluster);
    if (!parsed)
      return parsed.takeError();
    request.cluster = std::move(*parsed);
    for (auto [option, text] : llvm::zip_equal(kRequestOptions, asked))
      if (!text->empty())
        if (llvm::Error error = parseOption(option, *text, request))
          return std::move(error);
    return request;
  }

  /// The texts of kRequestOptions, in its order; "" is an option that is
  /// absent.
  std::vector<std::unique_ptr<Option<std::string>>> asked;
  PlannedModel *planned = nullptr;
  const StoredTensors *stored = nullptr;
  CountProgram count;
  FailureOr<Excess> counted = Excess(); // of the newest plan
};

} // namespace

std::unique_ptr<Pass> createSearchPlan(SearchPlanOptions options,
                                       PlannedModel *planned,
                                       const StoredTensors *stored,
                                       CountProgram count) {
  return std::make_unique<SearchPlan>(std::move(options), planned, stored,
                                      std::move(count));
}

} // namespace autopar

//===- PlaceWeights.cpp - Where an executable finds its weights -----------===//

#include "autopar/Frontend/OnnxReader.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/MadeWeights.h"
#include "autopar/Lowering/Passes.h"
#include "autopar/Support/Output.h"
#include "files/FileIdentity.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>

using namespace mlir;
namespace fs = std::filesystem;

namespace autopar {

#define GEN_PASS_DEF_PLACEWEIGHTS
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// Places the parameters of a module in the files that hold them.
class WeightPlacer {
public:
  WeightPlacer(ModuleOp module, const OnnxModel &model,
               const PlaceWeightsOptions &paths, MadeWeights &made)
      : module(module), model(model), paths(paths), made(made),
        builder(module.getContext()) {}

  llvm::Error place();

private:
  llvm::Expected<PersistentAttr> placeRow(PersistentAttr row);
  llvm::Error describeFiles();
  void describeMade();
  llvm::Expected<WeightFileAttr> describe(StringRef file);
  void warnOfMissing();
  std::string placeOf(StringRef file) const;
  std::string besideModel(StringRef file) const;
  StringAttr text(uint64_t hash);

  ModuleOp module;
  const OnnxModel &model;
  const PlaceWeightsOptions &paths;
  MadeWeights &made;
  Builder builder;
  std::map<std::string, std::vector<runtime::ByteRange>> files;
  std::vector<std::string> missing; // names of those files that are not there
  bool usesMade = false;
};

} // namespace

StringAttr WeightPlacer::text(uint64_t hash) {
  return builder.getStringAttr(runtime::formatHash(hash));
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// The path of `file` relative to the executable.
std::string WeightPlacer::besideModel(StringRef file) const {
  std::error_code code;
  fs::path weights = fs::absolute(paths.model, code).parent_path() / file.str();
  fs::path relative = fs::relative(weights, made.folder(), code);
  return code || relative.empty() ? file.str() : relative.string();
}

/// `--weights` names the only file, the one of several that is called so, or a
/// folder that holds them; relative to the executable.
std::string WeightPlacer::placeOf(StringRef file) const {
  fs::path given = paths.weights;
  if (given.empty())
    return besideModel(file);
  std::error_code ignored;
  if (given.filename().empty() ||
      fs::is_directory(fs::path(made.folder()) / given, ignored))
    return (given / file.str()).string();
  if (files.size() == 1 || given.filename() == fs::path(file.str()).filename())
    return given.string();
  return besideModel(file);
}

//===----------------------------------------------------------------------===//
// What files hold
//===----------------------------------------------------------------------===//

/// Describes a file. Of one that is there it tells the length, the structure if
/// it is a model, and the hash of all bytes.
llvm::Expected<WeightFileAttr> WeightPlacer::describe(StringRef file) {
  MLIRContext *context = module.getContext();
  StringAttr name = builder.getStringAttr(file),
             place = builder.getStringAttr(placeOf(file)), structure;
  fs::path path = fs::path(paths.model).parent_path() / file.str();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    if (!fs::exists(fs::path(made.folder()) / placeOf(file), ignored))
      missing.push_back(file.str());
    return WeightFileAttr::get(context, name, place, IntegerAttr(), structure,
                               /*content=*/StringAttr(), /*made=*/false);
  }
  if (usesMade && made.isFile(path.string()))
    return llvm::createStringError(
        "the weights of the executable would replace the model's '" + file +
        "'; give the executable another name");
  runtime::FileReader reader;
  if (llvm::Error error = toError(reader.open(path.string())))
    return std::move(error);
  for (const runtime::ByteRange &range : files[file.str()])
    if (uint64_t(range.end) > uint64_t(reader.size()))
      return llvm::createStringError(
          "'" + file + "' has " + Twine(reader.size()) + " bytes, but bytes " +
          Twine(range.begin) + " to " + Twine(range.end) +
          " are asked for: is it complete?");
  uint64_t hash = 0;
  if (file == model.fileName()) {
    if (llvm::Error error =
            toError(hashOutside(reader, files[file.str()], hash)))
      return std::move(error);
    structure = text(hash);
  }
  if (llvm::Error error = toError(hashAll(reader, hash)))
    return std::move(error);
  return WeightFileAttr::get(context, name, place,
                             builder.getI64IntegerAttr(reader.size()),
                             structure, text(hash), /*made=*/false);
}

/// Warns about files that are not there: they may come later, but a person
/// should know now.
void WeightPlacer::warnOfMissing() {
  constexpr size_t kNamed = 3;
  if (missing.empty())
    return;
  std::string names =
      "'" + llvm::join(ArrayRef(missing).take_front(kNamed), "', '") + "'";
  if (missing.size() > kNamed)
    names += " and " + std::to_string(missing.size() - kNamed) + " more";
  emitWarning(module.getLoc())
      << "the model's external data " << names << " is not beside it, nor '"
      << placeOf(missing.front())
      << "' from where the executable will be: put the weights there, or give "
         "them to each run with --weights";
}

/// The model's own file is listed where it says what others hold, and is
/// where a person expects it.
llvm::Error WeightPlacer::describeFiles() {
  bool isBesideModel =
      paths.weights.empty() || fs::path(paths.weights).filename().empty();
  bool isExternal = llvm::any_of(
      files, [&](auto &file) { return file.first != model.fileName(); });
  SmallVector<std::string> names;
  for (auto &[name, ranges] : files)
    names.push_back(name);
  if (isExternal && isBesideModel && !files.count(model.fileName().str()))
    names.push_back(model.fileName().str());
  SmallVector<WeightFileAttr> rows;
  for (const std::string &name : names) {
    auto row = describe(name);
    if (!row)
      return row.takeError();
    rows.push_back(*row);
  }
  warnOfMissing();
  if (usesMade)
    rows.push_back(WeightFileAttr::get(
        module.getContext(), builder.getStringAttr(made.file()),
        builder.getStringAttr(made.name()), IntegerAttr(), StringAttr(),
        StringAttr(), /*made=*/true));
  llvm::sort(rows, [](WeightFileAttr a, WeightFileAttr b) {
    return a.getFile().getValue() < b.getFile().getValue();
  });
  module->setAttr(
      AutoparDialect::kWeightFiles,
      builder.getArrayAttr(SmallVector<Attribute>(rows.begin(), rows.end())));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

llvm::Expected<PersistentAttr> WeightPlacer::placeRow(PersistentAttr row) {
  auto state = dyn_cast<StateAttr>(row.getWhat());
  auto parameter =
      dyn_cast<ParameterAttr>(state ? state.getInitial() : row.getWhat());
  if (!parameter)
    return row;
  Attribute what = row.getWhat();
  if (made.isEmbedded() || parameter.getOffset() < 0) {
    auto placed = made.place(parameter);
    if (!placed)
      return placed.takeError();
    what = state
               ? Attribute(StateAttr::get(module.getContext(), state.getName(),
                                          *placed, state.getRole()))
               : Attribute(*placed);
    usesMade = true;
  } else {
    int64_t begin = parameter.getOffset();
    files[parameter.getFile().str()].push_back(
        {begin, begin + parameter.getLength()});
  }
  bool isConstant = parameter.getConstant() ||
                    !model.isGraphInitializer(parameter.getName().getValue());
  return PersistentAttr::get(module.getContext(), what, row.getType(),
                             row.getGlobalType(), row.getSharding(),
                             isConstant);
}

llvm::Error WeightPlacer::place() {
  auto table = module->getAttrOfType<ArrayAttr>(AutoparDialect::kPersistent);
  if (!table)
    return llvm::Error::success();
  SmallVector<Attribute> stages;
  for (auto stage : table.getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> entries;
    for (auto row : stage.getAsRange<PersistentAttr>()) {
      auto placed = placeRow(row);
      if (!placed)
        return placed.takeError();
      entries.push_back(*placed);
    }
    stages.push_back(builder.getArrayAttr(entries));
  }
  module->setAttr(AutoparDialect::kPersistent, builder.getArrayAttr(stages));
  if (llvm::Error error = describeFiles())
    return error;
  describeMade();
  return llvm::Error::success();
}

/// Leaves the made weights in an attribute, for the code that writes the
/// executable.
void WeightPlacer::describeMade() {
  SmallVector<Attribute> pieces;
  for (const MadeWeights::Piece &piece : made.all())
    pieces.push_back(MadeWeightAttr::get(module.getContext(),
                                         builder.getStringAttr(piece.name),
                                         piece.offset, piece.size));
  if (!pieces.empty())
    module->setAttr(AutoparDialect::kMadeWeights, builder.getArrayAttr(pieces));
}

namespace {

struct PlaceWeights : impl::PlaceWeightsBase<PlaceWeights> {
  using PlaceWeightsBase::PlaceWeightsBase;
  PlaceWeights(PlaceWeightsOptions options, const OnnxModel *model,
               MadeWeights *made)
      : PlaceWeightsBase(std::move(options)), known(model), shared(made) {}

  void runOnOperation() override {
    if (llvm::Error error = place()) {
      emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  llvm::Error place() {
    PlaceWeightsOptions options{model, executable, embed, weights};
    if (known)
      return WeightPlacer(getOperation(), *known, options, *shared).place();
    if (model.empty() || executable.empty())
      return llvm::createStringError("places of weights lead from the "
                                     "executable to the model: give both, "
                                     "model=FILE and executable=FILE");
    auto read = OnnxModel::read(model);
    if (!read)
      return read.takeError();
    auto made = MadeWeights::create(executable, embed);
    if (!made)
      return made.takeError();
    return WeightPlacer(getOperation(), **read, options, *made).place();
  }

  const OnnxModel *known = nullptr;
  MadeWeights *shared = nullptr;
};

} // namespace

std::unique_ptr<Pass> createPlaceWeights(PlaceWeightsOptions options,
                                         const OnnxModel *model,
                                         MadeWeights *made) {
  return std::make_unique<PlaceWeights>(std::move(options), model, made);
}

} // namespace autopar

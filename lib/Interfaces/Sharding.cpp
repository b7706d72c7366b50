//===- Sharding.cpp - Meshes, shardings and sharding rules ----------------===//

#include "autopar/Interfaces/Sharding.h"
#include "autopar/Interfaces/Neutral.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

#include "autopar/Interfaces/Enums.cpp.inc"

using namespace llvm;

namespace autopar {

double neutralElement(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return 0;
  case ReduceKind::Prod:
    return 1;
  case ReduceKind::Max:
    return -std::numeric_limits<double>::infinity();
  case ReduceKind::Min:
    return std::numeric_limits<double>::infinity();
  }
  llvm_unreachable("all kinds are listed");
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> primeFactors(int64_t n) {
  SmallVector<int64_t> primes;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      primes.push_back(p);
  if (n > 1)
    primes.push_back(n);
  return primes;
}

Mesh::Mesh(ArrayRef<MeshAxis> axes) : axisList(axes) {
  for (const auto &[index, axis] : enumerate(axisList)) {
    SmallVector<int64_t> primes = primeFactors(axis.size);
    int64_t divisor = axis.size;
    for (const auto &[part, prime] : enumerate(primes)) {
      divisor /= prime;
      std::string name = primes.size() == 1
                             ? axis.name
                             : axis.name + "." + std::to_string(part);
      subAxisList.push_back({std::move(name), unsigned(index), prime, divisor,
                             0, axis.name == kTimeAxis});
    }
  }
  int64_t stride = 1;
  for (SubAxis &subAxis : reverse(subAxisList)) {
    subAxis.stride = stride;
    stride *= subAxis.size;
  }
}

int64_t Mesh::deviceCount() const {
  int64_t count = 1;
  for (const MeshAxis &axis : axisList)
    count *= axis.name == kTimeAxis ? 1 : axis.size;
  return count;
}

int64_t Mesh::timeCount() const {
  for (const MeshAxis &axis : axisList)
    if (axis.name == kTimeAxis)
      return axis.size;
  return 1;
}

std::optional<SmallVector<unsigned>> Mesh::lookup(StringRef ref) const {
  SmallVector<unsigned> subAxes;
  for (const auto &[index, subAxis] : enumerate(subAxisList))
    if (subAxis.name == ref || axisList[subAxis.axis].name == ref)
      subAxes.push_back(index);
  if (!subAxes.empty())
    return subAxes;
  // An axis of size 1 exists but has no sub-axes.
  if (any_of(axisList, [&](const MeshAxis &axis) { return axis.name == ref; }))
    return subAxes;
  return std::nullopt;
}

SmallVector<std::string> Mesh::spell(ArrayRef<unsigned> subAxes) const {
  SmallVector<std::string> names;
  while (!subAxes.empty()) {
    unsigned axis = subAxisList[subAxes.front()].axis;
    SmallVector<unsigned> whole = *lookup(axisList[axis].name);
    if (subAxes.take_front(whole.size()) == ArrayRef<unsigned>(whole)) {
      names.push_back(axisList[axis].name);
      subAxes = subAxes.drop_front(whole.size());
      continue;
    }
    names.push_back(subAxisList[subAxes.front()].name);
    subAxes = subAxes.drop_front();
  }
  return names;
}

int64_t Mesh::product(ArrayRef<unsigned> subAxes) const {
  int64_t product = 1;
  for (unsigned subAxis : subAxes)
    product *= subAxisList[subAxis].size;
  return product;
}

int64_t Mesh::linearIndex(ArrayRef<unsigned> subAxes, int64_t point) const {
  int64_t index = 0;
  for (unsigned subAxis : subAxes)
    index = index * subAxisList[subAxis].size +
            (point / subAxisList[subAxis].stride) % subAxisList[subAxis].size;
  return index;
}

SmallVector<int64_t> Mesh::group(ArrayRef<unsigned> subAxes,
                                 int64_t point) const {
  int64_t base = point;
  for (unsigned subAxis : subAxes)
    base -= (point / subAxisList[subAxis].stride) % subAxisList[subAxis].size *
            subAxisList[subAxis].stride;
  SmallVector<int64_t> members{base};
  for (unsigned subAxis : subAxes) {
    SmallVector<int64_t> next;
    for (int64_t member : members)
      for (int64_t digit = 0; digit < subAxisList[subAxis].size; ++digit)
        next.push_back(member + digit * subAxisList[subAxis].stride);
    members = std::move(next);
  }
  return members;
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

bool Sharding::isReplicated() const {
  return partial.empty() && all_of(dims, [](const DimSharding &dim) {
           return dim.subAxes.empty() && !dim.interval;
         });
}

bool Sharding::usesSubAxis(unsigned subAxis) const {
  return any_of(partial,
                [&](const Partial &p) { return p.subAxis == subAxis; }) ||
         any_of(dims, [&](const DimSharding &dim) {
           return is_contained(dim.subAxes, subAxis);
         });
}

int64_t localSize(int64_t size, const DimSharding &dim, const Mesh &mesh) {
  if (dim.interval)
    return dim.interval->length;
  return ceilDiv(size, mesh.product(dim.subAxes));
}

SmallVector<int64_t> localShape(ArrayRef<int64_t> shape,
                                const Sharding &sharding, const Mesh &mesh) {
  SmallVector<int64_t> local;
  for (const auto &[size, dim] : zip_equal(shape, sharding.dims))
    local.push_back(localSize(size, dim, mesh));
  return local;
}

bool isUneven(int64_t size, const DimSharding &dim, const Mesh &mesh) {
  return !dim.interval && size % mesh.product(dim.subAxes) != 0;
}

static void printAxes(raw_ostream &os, ArrayRef<unsigned> subAxes,
                      const Mesh &mesh) {
  interleaveComma(mesh.spell(subAxes), os,
                  [&](const std::string &name) { os << '"' << name << '"'; });
}

std::string toString(const Sharding &sharding, const Mesh &mesh) {
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(sharding.dims, os, [&](const DimSharding &dim) {
    os << '{';
    printAxes(os, dim.subAxes, mesh);
    if (dim.interval)
      os << ", step = " << dim.interval->step
         << ", offset = " << dim.interval->offset
         << ", length = " << dim.interval->length;
    os << '}';
  });
  os << ']';
  if (!sharding.partial.empty()) {
    os << ", partial = {";
    interleaveComma(sharding.partial, os, [&](const Partial &partial) {
      printAxes(os, partial.subAxis, mesh);
      os << ": " << stringifyReduceKind(partial.kind);
    });
    os << '}';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Sharding rule
//===----------------------------------------------------------------------===//

SmallVector<unsigned, 2> subAxesOf(const Assignment &assignment,
                                   unsigned factor) {
  SmallVector<unsigned, 2> subAxes;
  for (const auto &[subAxis, choice] : enumerate(assignment))
    if (choice == Choice{Choice::Split, factor})
      subAxes.push_back(subAxis);
  return subAxes;
}

/// A factor that shares `dim` with others must be the first of size above one,
/// so that its blocks are contiguous, and divide, so that they are equal.
static bool canSplitDim(const ShardingRule &rule, const DimFactors &dim,
                        unsigned factor, int64_t parts) {
  if (!is_contained(dim.factors, factor))
    return true;
  SmallVector<unsigned> wide;
  for (unsigned f : dim.factors)
    if (rule.factors[f].size != 1)
      wide.push_back(f);
  if (wide.empty() || (wide.size() == 1 && wide.front() == factor))
    return true;
  return wide.front() == factor && rule.factors[factor].size % parts == 0;
}

bool canSplit(const ShardingRule &rule, unsigned factor, int64_t parts) {
  auto legal = [&](const TensorFactors &tensor) {
    return all_of(tensor, [&](const DimFactors &dim) {
      return canSplitDim(rule, dim, factor, parts);
    });
  };
  return all_of(rule.operands, legal) && all_of(rule.results, legal);
}

/// The interval of an operand dimension that a block of B results reads.
static Interval operandInterval(const Window &window, int64_t block) {
  return {block * window.stride, -window.padLow,
          block == 0 ? 0
                     : (block - 1) * window.stride +
                           (window.size - 1) * window.dilation + 1};
}

static bool isPlain(const Window &window) {
  return window.size == 1 && window.stride == 1 && window.padLow == 0;
}

/// Sharding of one operand or result; nullopt: two split factors in a
/// dimension.
static std::optional<Sharding> tensorSharding(const ShardingRule &rule,
                                              const TensorFactors &tensor,
                                              const Assignment &assignment,
                                              const Mesh &mesh) {
  Sharding sharding = Sharding::replicated(tensor.size());
  for (const auto &[dim, factors] : zip_equal(sharding.dims, tensor)) {
    for (unsigned factor : factors.factors) {
      SmallVector<unsigned, 2> subAxes = subAxesOf(assignment, factor);
      if (subAxes.empty())
        continue;
      if (!dim.subAxes.empty())
        return std::nullopt;
      dim.subAxes = subAxes;
      if (factors.window && !isPlain(*factors.window))
        dim.interval =
            operandInterval(*factors.window, ceilDiv(rule.factors[factor].size,
                                                     mesh.product(subAxes)));
    }
  }
  return sharding;
}

static bool isLegal(const ShardingRule &rule, const Assignment &assignment,
                    const Mesh &mesh) {
  for (const auto &[subAxis, choice] : enumerate(assignment)) {
    if (choice.kind == Choice::Pass && choice.index >= rule.passes.size())
      return false;
    if (choice.kind != Choice::Split)
      continue;
    // A factor that is split once more is as legal as the first time.
    if (is_contained(ArrayRef(assignment).take_front(subAxis), choice))
      continue;
    if (choice.index >= rule.factors.size())
      return false;
    int64_t parts = mesh.product(subAxesOf(assignment, choice.index));
    if (!canSplit(rule, choice.index, parts))
      return false;
  }
  return assignment.size() == mesh.subAxes().size();
}

/// Reductions of different kinds do not commute: their order would matter.
static bool hasOnePartialKind(const Sharding &sharding) {
  return all_of(sharding.partial, [&](const Partial &partial) {
    return partial.kind == sharding.partial.front().kind;
  });
}

std::optional<OpShardings> shardingsOf(const ShardingRule &rule,
                                       const Assignment &assignment,
                                       const Mesh &mesh) {
  if (!isLegal(rule, assignment, mesh))
    return std::nullopt;
  OpShardings shardings;
  shardings.operands.reserve(rule.operands.size());
  shardings.results.reserve(rule.results.size());
  auto append = [&](const TensorFactors &tensor, SmallVector<Sharding> &list) {
    std::optional<Sharding> s = tensorSharding(rule, tensor, assignment, mesh);
    if (s)
      list.push_back(std::move(*s));
    return s.has_value();
  };
  for (const TensorFactors &tensor : rule.operands)
    if (!append(tensor, shardings.operands))
      return std::nullopt;
  for (const TensorFactors &tensor : rule.results)
    if (!append(tensor, shardings.results))
      return std::nullopt;
  for (const auto &[subAxis, choice] : enumerate(assignment)) {
    if (choice.kind == Choice::Split) {
      const Factor &factor = rule.factors[choice.index];
      if (factor.kind == FactorKind::Reduce)
        for (Sharding &result : shardings.results)
          result.partial.push_back({unsigned(subAxis), factor.reduce});
    } else if (choice.kind == Choice::Pass) {
      const PartialPass &pass = rule.passes[choice.index];
      for (unsigned operand : pass.operands)
        shardings.operands[operand].partial.push_back(
            {unsigned(subAxis), pass.kind});
      for (Sharding &result : shardings.results)
        result.partial.push_back({unsigned(subAxis), pass.kind});
    }
  }
  if (!all_of(shardings.operands, hasOnePartialKind) ||
      !all_of(shardings.results, hasOnePartialKind))
    return std::nullopt;
  return shardings;
}

} // namespace autopar

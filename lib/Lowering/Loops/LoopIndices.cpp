//===- LoopIndices.cpp - Index arithmetic of the loop emitter -------------===//
//
// Reshapes and flattened loops cut indices into digits and put them together
// again. Digits stay symbolic: (i / 12) * 12 + i % 12 is found to be i before
// any instruction is made, which keeps accesses contiguous for the vectorizer.
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::loops {

SmallVector<Index> with(ArrayRef<Index> at, int64_t dim, Index index) {
  SmallVector<Index> result(at);
  result[dim] = index;
  return result;
}

SmallVector<Index> without(ArrayRef<Index> at, int64_t dim) {
  SmallVector<Index> result(at);
  result.erase(result.begin() + dim);
  return result;
}

/// The size of the flat index; some parts may be missing.
static int64_t sizeOf(ArrayRef<Part> parts) {
  int64_t size = 1;
  for (const Part &part : parts)
    size = std::max(size, part.stride * part.size);
  return size;
}

Index LoopEmitter::addSpace(ArrayRef<Part> parts) {
  Value placeholder = make<LLVM::PoisonOp>(builder.getI64Type());
  int64_t size = sizeOf(parts);
  spaces[placeholder].assign(parts.begin(), parts.end());
  return {placeholder, 1, size};
}

/// Returns whether `border` is between two digits of the part's loop, or
/// outside.
static bool alignsWith(const Part &part, int64_t border) {
  if (border <= part.stride)
    return part.stride % border == 0;
  return border >= part.stride * part.size || border % part.stride == 0;
}

/// Returns whether part of the loop is in the digits [low, high).
static bool touches(const Part &part, int64_t low, int64_t high) {
  return part.stride * part.size > low && part.stride < high && part.size > 1;
}

/// Returns whether each loop is in the digits [low, high), outside of them, or
/// is cut by their borders into whole digits.
static bool cutsBetween(ArrayRef<Part> parts, int64_t low, int64_t high) {
  return llvm::all_of(parts, [&](const Part &part) {
    return alignsWith(part, low) && alignsWith(part, high);
  });
}

SmallVector<Part> LoopEmitter::partsOf(Index index) const {
  SmallVector<Part> parts(spaces.at(index.value));
  int64_t low = index.divisor, high = index.divisor * index.modulus;
  if (cutsBetween(parts, low, high))
    llvm::erase_if(parts, [&](const Part &part) {
      return part.stride * part.size <= low || part.stride >= high;
    });
  return parts;
}

/// The digit as one of the only view that has a part of it.
Index LoopEmitter::inView(Index digit) {
  auto known = views.find(digit.value);
  if (known == views.end() || digit.modulus == 0)
    return digit;
  int64_t low = digit.divisor, high = digit.divisor * digit.modulus;
  if (!cutsBetween(spaces[digit.value], low, high))
    return digit; // of the flat index alone
  Value only;
  for (Value view : known->second)
    if (llvm::any_of(spaces[view], [&](const Part &part) {
          return touches(part, low, high);
        })) {
      if (only)
        return digit;
      only = view;
    }
  if (only)
    digit.value = only;
  return digit;
}

/// The space that two indices are digits of, or null: one of them may be a view
/// of the other, or both of a third.
Value LoopEmitter::commonSpace(Value a, Value b) {
  if (a == b)
    return a;
  for (auto [space, view] : {std::pair(a, b), std::pair(b, a)})
    if (auto known = views.find(space);
        known != views.end() && llvm::is_contained(known->second, view))
      return space;
  return wholes.lookup({a, b});
}

/// Returns whether the remainder that `index` takes changes nothing: its value
/// ends there.
bool LoopEmitter::isTop(Index index) const {
  auto space = spaces.find(index.value);
  return index.modulus == 0 ||
         (space != spaces.end() &&
          index.divisor * index.modulus >= sizeOf(space->second));
}

/// (of / divisor) % modulus, of which the remainder is known to change nothing
/// where `of` ends below divisor * modulus. A digit of a digit is one of its
/// value where both end at the same place, or one after whole cycles of the
/// other; else `of` is computed first: (i % 21) / 6 is no digit of i.
Index LoopEmitter::digit(Index of, int64_t divisor, int64_t modulus) {
  if (modulus == 1 || (of.modulus != 0 && divisor >= of.modulus))
    return constantIndex(0);
  bool last = of.modulus != 0 && divisor * modulus >= of.modulus;
  if (last)
    modulus = llvm::divideCeil(of.modulus, divisor);
  if (!isTop(of) && of.modulus % (divisor * modulus) != 0)
    return {value(of), divisor, last ? 0 : modulus};
  return inView({of.value, of.divisor * divisor, modulus});
}

SmallVector<Index> LoopEmitter::delinearize(Index flat,
                                            ArrayRef<int64_t> shape) {
  SmallVector<Index> at(shape.size());
  int64_t stride = 1;
  int64_t *top = nullptr; // modulus of the first digit that is not constant
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    at[dim] = digit(flat, stride, shape[dim]);
    if (shape[dim] != 1)
      top = &at[dim].modulus;
    stride *= shape[dim];
  }
  if (top && flat.modulus == 0)
    *top = 0; // it is below its extent already
  return at;
}

/// The sum of value * scale, the terms of outer loops first, so that a partial
/// sum is made outside the inner loops; then what is constant, which addresses
/// have a place for.
Value LoopEmitter::sum(ArrayRef<std::pair<Value, int64_t>> terms) {
  SmallVector<std::pair<Value, int64_t>> sorted(terms.begin(), terms.end());
  llvm::stable_sort(sorted, [&](const auto &a, const auto &b) {
    return depth(a.first) < depth(b.first);
  });
  Value result;
  int64_t fixed = 0;
  for (auto [term, scale] : sorted) {
    if (std::optional<int64_t> known = getConstantIntValue(term)) {
      fixed += *known * scale;
      continue;
    }
    Value scaled = mulInt(term, scale);
    result = result ? addInt(result, scaled) : scaled;
  }
  return result ? addInt(result, constantInt(fixed)) : constantInt(fixed);
}

/// Adds index * scale to `terms`.
void LoopEmitter::addTerms(Index index, int64_t scale,
                           SmallVectorImpl<std::pair<Value, int64_t>> &terms) {
  auto space = spaces.find(index.value);
  if (space == spaces.end()) {
    Value &digit = memo[key(nullptr, index)];
    if (!digit) {
      Value known = index.value;
      if (index.divisor != 1)
        known = make<arith::DivUIOp>(known, constantInt(index.divisor));
      if (index.modulus != 0)
        known = make<arith::RemUIOp>(known, constantInt(index.modulus));
      digit = known;
    }
    terms.push_back({digit, scale});
    return;
  }
  SmallVector<Part> parts(space->second);
  int64_t low = index.divisor, high = index.divisor * index.modulus;
  int64_t whole = sizeOf(parts);
  if (!cutsBetween(parts, low, high)) {
    // A digit that begins or ends inside a loop's steps: of the flat index.
    SmallVector<std::pair<Value, int64_t>> flat;
    for (const Part &part : parts)
      addTerms(part.index, part.stride, flat);
    return addTerms({sum(flat), low, high < whole ? index.modulus : 0}, scale,
                    terms);
  }
  if (low > 1)
    findings.boundaries.insert(low);
  if (high < whole)
    findings.boundaries.insert(high);
  for (const Part &part : parts) {
    int64_t end = part.stride * part.size;
    if (end <= low || part.stride >= high)
      continue;
    // The digits of this part that are in [low, high).
    int64_t divisor = std::max<int64_t>(1, low / part.stride);
    int64_t modulus = std::min(end, high) / std::max(low, part.stride);
    Index piece = part.index;
    if (divisor != 1 || modulus != part.size) {
      Value whole = value(part.index);
      piece = {whole, divisor, end > high ? modulus : 0};
    }
    addTerms(piece, scale * (std::max(low, part.stride) / low), terms);
  }
}

Value LoopEmitter::value(Index index) {
  if (index.divisor == 1 && index.modulus == 0)
    return index.value;
  Key what = key(this, index);
  if (Value known = memo[what])
    return known;
  SmallVector<std::pair<Value, int64_t>> terms;
  addTerms(index, 1, terms);
  return memo[what] = sum(terms);
}

SmallVector<LoopEmitter::Run> LoopEmitter::runsOf(ArrayRef<Index> at,
                                                  ArrayRef<int64_t> shape) {
  SmallVector<Run> runs; // from the last dimension to the first
  int64_t stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    if (shape[dim] == 1)
      continue;
    const Index &index = at[dim];
    Value common = runs.empty()
                       ? Value()
                       : commonSpace(runs.back().index.value, index.value);
    bool joins =
        common && runs.back().index.modulus == runs.back().extent &&
        index.divisor == runs.back().index.divisor * runs.back().extent &&
        runs.back().stride * runs.back().extent == stride;
    if (joins) {
      runs.back().index.value = common;
      runs.back().extent *= shape[dim];
      runs.back().index.modulus *= index.modulus;
    } else {
      runs.push_back({index, shape[dim], stride});
    }
    stride *= shape[dim];
  }
  return runs;
}

Index LoopEmitter::linearize(ArrayRef<Index> at, ArrayRef<int64_t> shape) {
  SmallVector<Run> runs = runsOf(at, shape);
  if (runs.size() == 1 && runs[0].stride == 1)
    return runs[0].index;
  SmallVector<std::pair<Value, int64_t>> terms;
  for (const Run &run : runs)
    addTerms(run.index, run.stride, terms);
  return {sum(terms)};
}

std::vector<std::pair<int64_t, int64_t>>
LoopEmitter::digitsOf(ArrayRef<Index> fixed) {
  std::vector<std::pair<int64_t, int64_t>> digits;
  for (const Index &index : fixed) {
    auto space = spaces.find(index.value);
    if (space == spaces.end())
      continue;
    int64_t whole = sizeOf(space->second);
    digits.push_back(
        {index.divisor, index.modulus ? index.divisor * index.modulus : whole});
  }
  return digits;
}

void LoopEmitter::noteRead(ArrayRef<Index> at, ArrayRef<int64_t> shape) {
  SmallVector<Run> runs = runsOf(at, shape);
  if (runs.empty())
    return;
  const Run &inner = runs.front();
  auto space = spaces.find(inner.index.value);
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (space == spaces.end()) {
    reads.push_back({0, 0, elements});
    return;
  }
  reads.push_back({inner.index.divisor, inner.extent, elements});
  int64_t whole = sizeOf(space->second);
  bool large = 2 * elements >= whole;
  if (findings.crossStride == 0 && inner.index.divisor > 1 && large)
    findings.crossStride = inner.index.divisor;
}

} // namespace autopar::loops

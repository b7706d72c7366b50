//===- OnnxOpsContraction.cpp - ONNX matrix multiplications ---------------===//

#include "Contraction.h"
#include "ElementTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

LogicalResult requireSameElement(OnnxNode &node, unsigned count) {
  for (unsigned i = 1; i < count; ++i)
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  return success();
}

//===----------------------------------------------------------------------===//
// Contractions of two operands with named dimensions
//===----------------------------------------------------------------------===//

/// Drops dimension `letter` of size 1.
void dropDim(OnnxNode &node, Term &term, char letter) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(term.value));
  shape.erase(shape.begin() + term.find(letter));
  term.letters.erase(term.find(letter), 1);
  term.value = node.reshape(term.value, shape);
}

/// Sums over the dimensions that `keep` does not hold.
void sumExcept(OnnxNode &node, Term &term, StringRef keep) {
  SmallVector<int64_t> dims;
  std::string letters;
  for (auto [i, letter] : llvm::enumerate(term.letters)) {
    if (keep.contains(letter))
      letters.push_back(letter);
    else
      dims.push_back(i);
  }
  term.value = node.reduce(ReduceKind::Sum, term.value, dims);
  term.letters = letters;
}

} // namespace

Term contract(OnnxNode &node, Term a, Term b, StringRef keep) {
  for (char letter : std::string(a.letters)) {
    if (!b.has(letter) || a.size(letter) == b.size(letter))
      continue;
    dropDim(node, a.size(letter) == 1 ? a : b, letter);
  }
  sumExcept(node, a, b.letters + keep.str());
  sumExcept(node, b, a.letters + keep.str());
  return {node.einsum(a.letters, b.letters, keep, a.value, b.value),
          keep.str()};
}

//===----------------------------------------------------------------------===//
// MatMul and Gemm
//===----------------------------------------------------------------------===//

constexpr static StringLiteral kLetters =
    "abdefghijlopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"; // not c, k, m, n

FailureOr<MatrixProduct> matrixProductOf(OnnxNode &node, Value lhs, Value rhs) {
  int64_t lhsRank = OnnxNode::rankOf(lhs), rhsRank = OnnxNode::rankOf(rhs);
  int64_t batch = std::max<int64_t>(std::max(lhsRank, rhsRank) - 2, 0);
  if (lhsRank == 0 || rhsRank == 0 || batch > int64_t(kLetters.size()))
    return node.error("its inputs must have 1 to 50 dimensions");
  StringRef letters = kLetters.take_front(batch);
  Term a{lhs, "k"}, b{rhs, "k"};
  std::string result = letters.str();
  if (lhsRank > 1) {
    a.letters = (letters.take_back(lhsRank - 2) + "mk").str();
    result += "m";
  }
  if (rhsRank > 1) {
    b.letters = (letters.take_back(rhsRank - 2) + "kn").str();
    result += "n";
  }
  if (a.size('k') != b.size('k'))
    return node.error("the inner sizes " + Twine(a.size('k')) + " and " +
                      Twine(b.size('k')) + " differ");
  for (char letter : letters)
    if (a.has(letter) && b.has(letter) && a.size(letter) != b.size(letter) &&
        a.size(letter) != 1 && b.size(letter) != 1)
      return node.error("the batch sizes " + Twine(a.size(letter)) + " and " +
                        Twine(b.size(letter)) + " do not broadcast");
  return MatrixProduct{a, b, result};
}

namespace {
LogicalResult matmul(OnnxNode &node) {
  if (failed(requireSameElement(node, 2)))
    return failure();
  FailureOr<MatrixProduct> product =
      matrixProductOf(node, node.input(0), node.input(1));
  if (failed(product))
    return failure();
  auto &[a, b, result] = *product;
  return node.finish(contract(node, a, b, result).value);
}

/// alpha * A * B + beta * C; a transposed operand only swaps its letters.
LogicalResult gemm(OnnxNode &node) {
  if (failed(requireSameElement(node, 3)) ||
      failed(node.requireRank(0, 2, 2)) || failed(node.requireRank(1, 2, 2)))
    return failure();
  Term a{node.input(0), node.getInt("transA", 0) ? "km" : "mk"};
  Term b{node.input(1), node.getInt("transB", 0) ? "nk" : "kn"};
  if (a.size('k') != b.size('k'))
    return node.error("the inner sizes " + Twine(a.size('k')) + " and " +
                      Twine(b.size('k')) + " differ");
  Value result = node.einsum(a.letters, b.letters, "mn", a.value, b.value);
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  if (alpha != 1)
    result = node.binary(BinaryKind::Mul, result, alpha);
  if (!node.has(2) || beta == 0)
    return node.finish(result);
  Value bias = node.input(2);
  FailureOr<SmallVector<int64_t>> shape = node.broadcastShape({result, bias});
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != OnnxNode::shapeOf(result))
    return node.error("its input 2 does not broadcast to the shape of A * B");
  if (beta != 1)
    bias = node.binary(BinaryKind::Mul, bias, beta);
  return node.finish(
      node.binary(BinaryKind::Add, result, node.broadcastTo(bias, *shape)));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

/// The equation with letters in place of ellipses.
struct Equation {
  SmallVector<std::string> terms;
  std::string result;
};

/// Letters, and one ellipsis standing for `dims` dimensions that get the last
/// of `ellipsis`.
FailureOr<std::string> parseTerm(OnnxNode &node, StringRef text, int64_t dims,
                                 StringRef ellipsis) {
  std::string letters;
  bool seen = false;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (std::exchange(seen, true) || dims < 0 ||
          dims > int64_t(ellipsis.size()))
        return node.error("the ellipsis in its equation does not fit");
      letters += ellipsis.take_back(dims);
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return node.error("its equation holds '" + text.take_front() + "'");
    letters.push_back(text.front());
    text = text.drop_front();
  }
  return letters;
}

/// Output letters of an equation without "->": those that are there once,
/// sorted.
std::string impliedResult(ArrayRef<std::string> terms, StringRef ellipsis) {
  std::string all, result = ellipsis.str();
  for (const std::string &term : terms)
    all += term;
  std::string sorted = all;
  llvm::sort(sorted);
  for (char letter : sorted)
    if (llvm::count(all, letter) == 1 && !ellipsis.contains(letter))
      result.push_back(letter);
  return result;
}

FailureOr<Equation> parseEquation(OnnxNode &node) {
  std::string text;
  for (char c : node.getString("equation", ""))
    if (!llvm::isSpace(c))
      text.push_back(c);
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.numInputs())
    return node.error("its equation has " + Twine(parts.size()) +
                      " terms for " + Twine(node.numInputs()) + " inputs");
  std::string unused;
  for (char c :
       StringRef("zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"))
    if (!StringRef(text).contains(c))
      unused.insert(unused.begin(), c);
  Equation equation;
  int64_t longest = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
    bool dots = part.contains("...");
    int64_t dims = dots ? node.rank(i) - int64_t(part.size()) + 3 : 0;
    longest = std::max(longest, dims);
    FailureOr<std::string> term = parseTerm(node, part, dims, unused);
    if (failed(term))
      return failure();
    if (int64_t(term->size()) != node.rank(i))
      return node.error("term " + Twine(i) +
                        " of its equation does not fit the rank");
    equation.terms.push_back(*term);
  }
  StringRef ellipsis = StringRef(unused).take_back(longest);
  if (!isExplicit) {
    equation.result = impliedResult(equation.terms, ellipsis);
    return equation;
  }
  FailureOr<std::string> result = parseTerm(node, right, longest, unused);
  if (failed(result))
    return failure();
  equation.result = *result;
  return equation;
}

bool repeatsLetter(StringRef letters) {
  for (size_t i = 0; i < letters.size(); ++i)
    if (letters.drop_front(i + 1).contains(letters[i]))
      return true;
  return false;
}

/// Keeps what is on the diagonals of letters that repeat.
LogicalResult takeDiagonals(OnnxNode &node, Term &term) {
  for (size_t second = 0; second < term.letters.size();) {
    size_t first = term.letters.find(term.letters[second]);
    if (first == second) {
      ++second;
      continue;
    }
    ArrayRef<int64_t> shape = OnnxNode::shapeOf(term.value);
    if (shape[first] != shape[second])
      return node.error("letter '" + StringRef(term.letters).substr(first, 1) +
                        "' stands for sizes " + Twine(shape[first]) + " and " +
                        Twine(shape[second]));
    auto type = RankedTensorType::get(shape, node.builder.getI64Type());
    Value on = node.compare(ComparePredicate::Eq, node.iota(type, first),
                            node.iota(type, second));
    Value kept = node.select(on, term.value, node.splatLike(term.value, 0));
    term.value = node.reduce(ReduceKind::Sum, kept, {int64_t(second)});
    term.letters.erase(second, 1);
  }
  return success();
}

LogicalResult checkEquation(OnnxNode &node, const Equation &equation) {
  std::string all;
  llvm::StringMap<int64_t> sizes;
  for (auto [i, term] : llvm::enumerate(equation.terms)) {
    for (auto [letter, size] : llvm::zip_equal(term, node.shape(i))) {
      int64_t &known =
          sizes.try_emplace(StringRef(&letter, 1), 1).first->second;
      if (known != 1 && size != 1 && known != size)
        return node.error("letter '" + StringRef(&letter, 1) +
                          "' stands for sizes " + Twine(known) + " and " +
                          Twine(size));
      known = std::max(known, size);
    }
    all += term;
  }
  if (repeatsLetter(equation.result))
    return node.error("a letter repeats in the result of its equation");
  for (char letter : equation.result)
    if (!StringRef(all).contains(letter))
      return node.error("letter '" + StringRef(&letter, 1) +
                        "' of its equation's result is in no term");
  return success();
}

/// Letters of a and b, in order, that `needed` holds.
std::string lettersToKeep(const Term &a, const Term &b, StringRef needed) {
  std::string keep;
  for (char letter : a.letters + b.letters)
    if (needed.contains(letter) && keep.find(letter) == std::string::npos)
      keep.push_back(letter);
  return keep;
}

LogicalResult einsum(OnnxNode &node) {
  FailureOr<Equation> equation = parseEquation(node);
  if (failed(equation) || failed(requireSameElement(node, node.numInputs())) ||
      failed(checkEquation(node, *equation)))
    return failure();
  unsigned count = node.numInputs();
  Term term{node.input(0), equation->terms[0]};
  if (failed(takeDiagonals(node, term)))
    return failure();
  for (unsigned i = 1; i < count; ++i) {
    std::string needed = equation->result;
    for (unsigned j = i + 1; j < count; ++j)
      needed += equation->terms[j];
    Term next{node.input(i), equation->terms[i]};
    if (failed(takeDiagonals(node, next)))
      return failure();
    std::string keep =
        i + 1 == count ? equation->result : lettersToKeep(term, next, needed);
    term = contract(node, term, next, keep);
  }
  sumExcept(node, term, equation->result);
  SmallVector<int64_t> perm;
  for (char letter : equation->result)
    perm.push_back(term.find(letter));
  return node.finish(node.transpose(term.value, perm));
}

constexpr StringLiteral kGemm = "alpha:float beta:float transA:int transB:int";

const OnnxOp kOps[] = {
    {"MatMul", "1 9 13", 2, 2, "", matmul},
    {"Gemm", "6", 3, 3,
     "alpha:float beta:float broadcast:int transA:int transB:int", gemm},
    {"Gemm", "7 9", 3, 3, kGemm, gemm},
    {"Gemm", "11 13", 2, 3, kGemm, gemm},
    {"Einsum", "12 28", 1, kVariadic, "equation:string!", einsum},
};
} // namespace

ArrayRef<OnnxOp> contractionOps() { return kOps; }

} // namespace autopar

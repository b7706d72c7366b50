//===- FoldedGraph.h - A graph by its classes -------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_FOLDEDGRAPH_H
#define AUTOPAR_PLANNING_MODEL_FOLDEDGRAPH_H

#include "autopar/Planning/Model/Classes.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Solver/Problem.h"
#include <map>

namespace autopar {

/// The key of a problem's edge: an op, a value, and where the op makes or reads
/// the value. The cost depends on the sharding that the op gives or wants
/// there, and on how the value is sharded.
struct EdgeKey {
  unsigned op, value; // classes
  bool result;
  unsigned position;
  bool operator<(const EdgeKey &o) const {
    return std::tie(op, value, result, position) <
           std::tie(o.op, o.value, o.result, o.position);
  }
};

/// The part of a graph that all problems with the same marks share, whatever
/// their meshes. Each op and value of the graph is visited here, and only
/// classes after that.
struct FoldedGraph {
  struct Edge {
    unsigned index = 0; // number in the problem
    unsigned count = 0; // number of operands and results
  };

  FoldedGraph(const ModelGraph &graph, llvm::ArrayRef<unsigned> marks);

  GraphClasses classes;
  std::vector<unsigned> opCounts;               // per op class
  std::vector<unsigned> outputCounts;           // per value class
  std::vector<std::vector<unsigned>> stateSets; // sets of value classes
  std::vector<unsigned> opNodes, valueNodes;    // per class
  unsigned nodes = 0;
  std::map<EdgeKey, Edge> edges;
  std::vector<std::vector<EdgeKey>> keysOfValue; // per value class
  /// The memory terms and rows of a problem (Problem.h).
  std::vector<MemoryTerm> persistent;
  std::vector<MemoryRow> rowKinds;
  std::vector<unsigned> rows;

private:
  void count(const ModelGraph &graph);
  void findStateSets(const ModelGraph &graph);
  void numberNodes(const ModelGraph &graph);
  void addEdges(const ModelGraph &graph);
  void addMemory(const ModelGraph &graph);
  void addCopies(const ModelGraph &graph, const GraphStep &step,
                 MemoryRow &row) const;
  void foldRows(std::vector<MemoryRow> all);
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_FOLDEDGRAPH_H

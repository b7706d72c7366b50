//===- FoldedGraph.h - A graph by its classes -------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_FOLDEDGRAPH_H
#define AUTOPAR_PLANNING_MODEL_FOLDEDGRAPH_H

#include "autopar/Planning/Model/Classes.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Solver/Problem.h"
#include <map>

namespace autopar {

/// What an op gives or wants of a value, against how the value is sharded.
struct EdgeKey {
  unsigned op, value; // classes
  bool result;
  unsigned position;
  bool operator<(const EdgeKey &o) const {
    return std::tie(op, value, result, position) <
           std::tie(o.op, o.value, o.result, o.position);
  }
};

/// What problems have in common that tell the same ops apart, whatever their
/// meshes: each op and value of the graph is looked at here, and classes alone
/// after that.
struct FoldedGraph {
  struct Edge {
    unsigned index = 0; // in order
    unsigned count = 0; // of operands and results
  };

  FoldedGraph(const ModelGraph &graph, llvm::ArrayRef<unsigned> marks);

  GraphClasses classes;
  std::vector<unsigned> opCounts;               // per op class
  std::vector<unsigned> outputCounts;           // per value class
  std::vector<std::vector<unsigned>> stateSets; // of value classes
  std::vector<unsigned> opNodes, valueNodes;    // per class
  unsigned nodes = 0;
  std::map<EdgeKey, Edge> edges;
  std::vector<std::vector<EdgeKey>> keysOfValue; // per value class
  /// As problems have them.
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

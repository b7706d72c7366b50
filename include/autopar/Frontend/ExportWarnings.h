//===- ExportWarnings.h - What an exporter made of parameters ---*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_EXPORTWARNINGS_H
#define AUTOPAR_FRONTEND_EXPORTWARNINGS_H

#include "autopar/Frontend/OnnxReader.h"
#include <set>

namespace autopar {

/// Warnings about tensors that would be trained although they are not the
/// parameters of the model's author: one text per kind, with names and advice.
/// `trained` are names of initializers. The recipe names them, or `byDefault`
/// the compiler chose them. The kinds are:
/// - tensors that an exporter computed from parameters and named itself;
/// - parameters that the file lists, and whose nodes read other tensors;
/// - one initializer that is the parameter of several layers;
/// - one number that is multiplied with, which may be a constant;
/// - tensors that may be buffers, where the file does not tell;
/// - scalars of PyTorch's module, which are not trained by default;
/// - batch norm that was folded into the layer before it.
std::vector<std::string> exportWarnings(const OnnxModel &model,
                                        const std::set<std::string> &trained,
                                        bool byDefault);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_EXPORTWARNINGS_H

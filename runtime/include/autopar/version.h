//===- version.h - The version of compiler and runtime ----------*- C++ -*-===//

#ifndef AUTOPAR_VERSION_H
#define AUTOPAR_VERSION_H

#define AUTOPAR_VERSION "0.1.0"

#endif // AUTOPAR_VERSION_H

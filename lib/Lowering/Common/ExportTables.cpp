//===- ExportTables.cpp - What a program exports --------------------------===//

#include "LowerProgram.h"

using namespace mlir;

namespace autopar {

static_assert(offsetof(aprt_stage_functions, setup) == 0 &&
                  offsetof(aprt_stage_functions, step) == sizeof(void *) &&
                  sizeof(aprt_stage_functions) == 2 * sizeof(void *),
              "the functions of all stages are one array of pointers");

void exportStages(HostProgram &program, ArrayRef<std::string> functions) {
  MLIRContext *context = program.module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(program.module.getBody());
  Location loc = program.module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMArrayType::get(pointer, functions.size());
  auto table = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
      abi::nameOf<aprt_program_stages>, Attribute(), /*alignment=*/8);
  Block *block = builder.createBlock(&table.getInitializer());
  builder.setInsertionPointToStart(block);
  Value value = LLVM::UndefOp::create(builder, loc, type);
  for (auto [number, name] : llvm::enumerate(functions)) {
    Value address = LLVM::AddressOfOp::create(builder, loc, pointer, name);
    value = LLVM::InsertValueOp::create(builder, loc, value, address,
                                        static_cast<int64_t>(number));
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

void exportManifest(HostProgram &program, StringRef text) {
  OpBuilder builder = OpBuilder::atBlockEnd(program.module.getBody());
  std::string zeroEnded = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), zeroEnded.size());
  LLVM::GlobalOp::create(builder, program.module.getLoc(), type,
                         /*isConstant=*/true, LLVM::Linkage::External,
                         abi::nameOf<aprt_program_manifest>,
                         builder.getStringAttr(zeroEnded));
}

} // namespace autopar

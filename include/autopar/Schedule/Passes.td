//===- Passes.td - Kernels, order and buffers ---------------------------------===//

#ifndef AUTOPAR_SCHEDULE_PASSES_TD
#define AUTOPAR_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

class SchedulePass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def WidenReductions : SchedulePass<"autopar-widen-reductions"> {
  let summary = "reduce over devices in types that the target's communication has";
  let description = [{
    NCCL knows no integers of 16 bits: such a value is converted to 32 bits before
    an all-reduce or reduce-scatter and back after it. Sums, products, minima and
    maxima of 16 bits are the low bits of those of 32, so nothing changes.
  }];
}

def AlignOperands : SchedulePass<"autopar-align-operands"> {
  let summary = "pad GEMMs whose rows are not aligned as fast kernels want them";
  let description = [{
    On a target whose table has `alignedBytes`, the rows in memory of the operands
    and the result of a GEMM become a multiple of so many bytes where the plan says
    so (`autopar.padded`), which has counted that memory. The attribute is then
    gone. Constants are padded in @setup. The epilogue of a padded GEMM becomes a
    kernel after it.

    ```mlir
    %y = autopar.einsum "mk,nk->mn" %x, %w {autopar.padded} : 4096x768, 50257x768 -> 4096x50257
    // becomes, with %v = pad %w in @setup
    %z = autopar.einsum "mk,nk->mn" %x, %v : 4096x768, 50264x768 -> 4096x50264
    %y = autopar.slice %z starts = [0, 0] ... -> 4096x50257
    ```
  }];
}

def FormKernels : SchedulePass<"autopar-form-kernels"> {
  let summary = "make each kernel group an autopar.kernel";
  let description = [{
    The groups are those of the kernel-group analysis (Cost). Ops that a group
    repeats (constants, spreads, positions) are inside its body. Between kernels
    only communication and reshapes remain. A function result that shares its memory
    with an argument or another result gets a kernel that copies it.

    A kernel carries `autopar.op` (the node it stems from), `autopar.row_rank` (its
    leading row dimensions, where it reduces over rows) and `autopar.in_place`
    (for each result the input that it may be written over, or -1).
  }];
}

def OrderWork : SchedulePass<"autopar-order-work"> {
  let summary = "put communication early, receives late, and number it";
  let description = [{
    A collective or send stands right after the last of its operands, a receive
    right before its first reader. Kernels keep their order, but for single
    numbers computed of others, which come early, and kernels after which memory
    is free:

        gradient of b; gradient of a; update of a; update of b
        -> gradient of b; update of b; gradient of a; update of a

    These wait for no communication that others have not waited for.
    `autopar.sequence` is the place of each communication in the one global
    order.
  }];
}

def AssignLayouts : SchedulePass<"autopar-assign-layouts"> {
  let summary = "choose the order in which dimensions of values are stored";
  let description = [{
    Images that a convolution of the library reads, adds and writes have their
    channels last where the target's table says so; a depthwise one that adds few
    terms (`mostRowMajorTerms`) leaves a row-major image as it is unless another
    convolution may read its result. Loops take any layout, and their results have
    that of the largest operand. Collectives, messages and reshapes keep the order.
    Where a value has another layout than its reader wants - arguments and results
    of functions are row-major - the reader gets a copy.

    `autopar.layouts` on a kernel, collective or receive lists for each result its
    dimensions from the outermost to the contiguous one, e.g. [0, 2, 3, 1]; empty is
    row-major, and so is no attribute.
  }];
}

def AssignBuffers : SchedulePass<"autopar-assign-buffers"> {
  let summary = "give every value a place in memory";
  let description = [{
    Kernels, collectives, sends and receives work on memrefs made by autopar.buffer, whose strides are the layout:
    static offsets into one arena per function, or persistent tensors (parameters, setup values) by index. Reshapes
    become other names of one place. `autopar.value` on a buffer names the value that it holds. Functions lose their
    arguments and results: `autopar.arguments`, `autopar.results` and `autopar.arena_bytes` describe them and their
    places; the module's `autopar.persistent` lists each stage's persistent tensors.
  }];
}

def NarrowSlices : SchedulePass<"autopar-narrow-slices"> {
  let summary = "let kernels read and write the parts of values that they need";
  let description = [{
    Time steps and other repetitions differ in which rows of a value they read or
    write. Where such rows are one piece of memory, the kernel gets a buffer of
    them, and all repetitions are one kernel:

    ```mlir
    %x = autopar.buffer arena[0] {autopar.value = 3 : i64} : memref<20x8xf32>
    autopar.kernel ins(%x) ...  { slice %x starts = [3, 0] : 20x8 -> 1x8, f }
    // becomes
    %x = autopar.buffer arena[0] {autopar.value = 3 : i64} : memref<1x8xf32, strided<[8, 1], offset: 24>>
    autopar.kernel ins(%x) ...  { f }
    ```

    and a long concat of such pieces becomes a copy of each.
  }];
}

def PackWeights : SchedulePass<"autopar-pack-weights"> {
  let summary = "let library calls of steps read constants packed";
  let description = [{
    A GEMM or convolution of a step whose `b` is a parameter or setup value reads it
    in a form of the library's own, which @setup makes (`packed` on the call, the form's
    number in the stage). Calls share a form where they can (`packingOf`). Where
    other work of the step reads the same constant as it is, the target's table says
    whether the call does so too.
  }];
}

def AssignStreams : SchedulePass<"autopar-assign-streams"> {
  let summary = "put communication on a stream of its own and order streams by events";
  let description = [{
    If the target's table gives communication a stream of its own, each collective, send and receive of a step gets
    `autopar.stream = 1`; all other work, and @setup, are on stream 0. Work that touches bytes of the arena which work
    of the other stream touched before, one of them writing, waits for it: `autopar.record_event` after the last such
    work, `autopar.wait_event` before the new one, unless earlier waits imply it. The first work of a step on stream 1
    comes after its start on stream 0, and the end of a step waits for all streams. On targets with one stream nothing
    changes.
  }];
}

def VerifySchedule : SchedulePass<"autopar-verify-schedule"> {
  let summary = "replay buffers, streams and messages";
  let description = [{
    There is no tensor outside of kernels. The target's libraries have the calls, and only steps read packed
    constants. Each read sees the write of the value it names, and all buffers of one value name the same element by
    the same row-major number, whatever their shapes and strides, or of a row-major value a run of elements. A kernel
    writes over its own inputs only where it may: an iteration reads only those elements of such an input that it
    writes itself, in the same order of memory. Every send has its receive, and all stages reach their end. Work that
    touches the same memory on two streams is ordered by events, and a step's communication is on one stream.
  }];
}

def VerifyProgram : SchedulePass<"autopar-verify-program"> {
  let summary = "hold a program's functions against what its module says of them";
  let description = [{
    The module has one mesh, a known target and a known precision, `@setup_s` and
    `@step_s` of each stage, and no other function. The types of arguments, results
    and rows of `autopar.persistent` follow from their global types and shardings.
    An argument has the row that it names, a setup result has the row that the
    stage's setup leaves there, and a buffer is no larger than its row. Setup writes
    each of its values once. Outputs are in the arena. This pass runs after
    autopar-verify-schedule, which looks into the functions.
  }];
}

#endif // AUTOPAR_SCHEDULE_PASSES_TD

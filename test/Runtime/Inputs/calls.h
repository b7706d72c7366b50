// A hand-written program that is loaded calls the runtime through its variable.

#include "autopar/runtime.h"

const aprt_runtime *aprt_program_runtime;

#define aprt_arena aprt_program_runtime->aprt_arena
#define aprt_persistent aprt_program_runtime->aprt_persistent
#define aprt_load aprt_program_runtime->aprt_load
#define aprt_release aprt_program_runtime->aprt_release
#define aprt_axis_index aprt_program_runtime->aprt_axis_index
#define aprt_launch aprt_program_runtime->aprt_launch
#define aprt_launch_grid aprt_program_runtime->aprt_launch_grid
#define aprt_gemm aprt_program_runtime->aprt_gemm
#define aprt_gemm_pack aprt_program_runtime->aprt_gemm_pack
#define aprt_all_reduce aprt_program_runtime->aprt_all_reduce
#define aprt_all_gather aprt_program_runtime->aprt_all_gather
#define aprt_send aprt_program_runtime->aprt_send
#define aprt_recv aprt_program_runtime->aprt_recv
#define aprt_event_record aprt_program_runtime->aprt_event_record
#define aprt_event_wait aprt_program_runtime->aprt_event_wait

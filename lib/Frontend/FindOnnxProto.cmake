# Finds onnx-ml.proto in the installed Python package `onnx` and compiles it
# with protoc: target AutoparOnnxProto. The file is not copied into the tree,
# so the newest ONNX that the package knows is the newest this build reads.

if(NOT AUTOPAR_PYTHON)
  find_program(AUTOPAR_PYTHON python3 DOC "Python with the package onnx")
endif()
set(AUTOPAR_PYTHON "${AUTOPAR_PYTHON}" CACHE FILEPATH "Python with the package onnx")

if(NOT AUTOPAR_ONNX_PROTO)
  execute_process(
    COMMAND ${AUTOPAR_PYTHON} -c
      "import importlib.util as u, os; print(os.path.join(os.path.dirname(u.find_spec('onnx').origin), 'onnx-ml.proto'))"
    OUTPUT_VARIABLE _onnx_proto OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(AUTOPAR_ONNX_PROTO "${_onnx_proto}" CACHE FILEPATH "onnx-ml.proto of the Python package onnx" FORCE)
endif()
if(NOT EXISTS "${AUTOPAR_ONNX_PROTO}")
  unset(AUTOPAR_ONNX_PROTO CACHE)
  message(FATAL_ERROR
    "onnx-ml.proto was not found: the Python '${AUTOPAR_PYTHON}' has no package onnx. Install it with\n"
    "  ${AUTOPAR_PYTHON} -m pip install onnx\n"
    "or name another Python with -DAUTOPAR_PYTHON=..., or the file itself with -DAUTOPAR_ONNX_PROTO=...")
endif()

find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
get_filename_component(_onnx_dir "${AUTOPAR_ONNX_PROTO}" DIRECTORY)
set(_onnx_out ${CMAKE_CURRENT_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${_onnx_out})
add_custom_command(
  OUTPUT ${_onnx_out}/onnx-ml.pb.cc ${_onnx_out}/onnx-ml.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} --proto_path=${_onnx_dir} --cpp_out=lite:${_onnx_out} onnx-ml.proto
  DEPENDS ${AUTOPAR_ONNX_PROTO}
  COMMENT "Compiling onnx-ml.proto")
add_library(AutoparOnnxProto STATIC ${_onnx_out}/onnx-ml.pb.cc ${_onnx_out}/onnx-ml.pb.h)
target_include_directories(AutoparOnnxProto SYSTEM PUBLIC ${_onnx_out} ${Protobuf_INCLUDE_DIRS})
target_link_libraries(AutoparOnnxProto PUBLIC protobuf::libprotobuf-lite)
target_compile_options(AutoparOnnxProto PRIVATE -w)

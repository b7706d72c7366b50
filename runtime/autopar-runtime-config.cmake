# The runtime for programs that are linked with it: find_package(autopar-runtime)
# gives the target autopar::main (a main function that runs the program whose
# aprt_program_* symbols are linked in, and all that such a program calls).
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
get_filename_component(autopar_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET autopar::main)
  add_library(autopar::main INTERFACE IMPORTED)
  target_include_directories(autopar::main INTERFACE ${autopar_prefix}/include)
  target_link_libraries(autopar::main INTERFACE
    ${autopar_prefix}/lib/libautopar_main.a ${autopar_prefix}/lib/libautopar_runtime.a
    ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
endif()

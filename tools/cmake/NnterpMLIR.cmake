# Finds MLIR 22 and declares how libraries that use it are built: against the shared libMLIR/libLLVM only, without
# exceptions, with the project's warnings.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "nnterp-opt needs MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
find_program(NNTERP_LIT NAMES lit lit-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

# nnterp_mlir_library(NAME sources... DEPENDS generated... LIBS libraries...)
function(nnterp_mlir_library name)
  cmake_parse_arguments(A "" "" "LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  nnterp_flags(${name})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-exceptions -O1) # its time goes into libMLIR, ours into compiling this
  target_link_libraries(${name} PUBLIC ${A_LIBS})
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
endfunction()

# How this project's libraries, tools and tests are declared: one set of flags for all of them.

add_compile_definitions($<$<CONFIG:Debug>:NNTERP_DEBUG>)

# Flags of our own code. Libraries without MLIR keep exceptions and RTTI (nlohmann_json needs them).
function(nnterp_flags target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter -ffp-contract=off)
  if(NNTERP_ASSERTIONS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
  endif()
  if(NNTERP_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${NNTERP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${NNTERP_SANITIZE})
  endif()
endfunction()

# nnterp_library(NAME sources... LIBS libraries...)
function(nnterp_library name)
  cmake_parse_arguments(A "" "" "LIBS" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  nnterp_flags(${name})
  target_link_libraries(${name} PUBLIC ${A_LIBS})
endfunction()

# nnterp_unit_test(NAME sources... LIBS libraries...): a Catch2 program, registered with ctest as NAME.
# Tests find their data through the macro NNTERP_TEST_DATA.
function(nnterp_unit_test name)
  cmake_parse_arguments(A "" "" "LIBS" ${ARGN})
  add_executable(${name} ${A_UNPARSED_ARGUMENTS})
  nnterp_flags(${name})
  target_compile_options(${name} PRIVATE -O0) # compiling tests would take longer than running them
  target_compile_definitions(${name} PRIVATE NNTERP_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" NNTERP_BIN="${CMAKE_BINARY_DIR}/bin")
  target_link_libraries(${name} PRIVATE ${A_LIBS} nnterpTestMain)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()

# What every target of ours is compiled with.
add_library(dlnb_warnings INTERFACE)
target_compile_features(dlnb_warnings INTERFACE cxx_std_20)
target_compile_options(dlnb_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wconversion
                                               -Wno-sign-conversion -Wno-missing-field-initializers)
# g++ 12 sees overlapping copies in "text" + std::string at -O3 (GCC bug 105651).
target_compile_options(dlnb_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# clang++ finds libstdc++ 12's own use of what that deprecates.
target_compile_options(dlnb_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(DLNB_SANITIZE)
  add_compile_options(-fsanitize=${DLNB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${DLNB_SANITIZE})
endif()
if(DLNB_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # UCX, below MPICH, patches the functions that get memory, and jumps astray where the sanitizer's are in the program itself.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                  OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET runtime PARENT_PATH runtime)
  add_link_options(-shared-libasan -Wl,-rpath,${runtime})
endif()

find_program(ccache ccache)
if(ccache AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
endif()
find_program(mold mold)
if(mold)
  add_link_options(-fuse-ld=mold)
endif()

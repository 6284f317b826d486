# Communication libraries are modules loaded at run time, so that one program serves machines with either MPI,
# both or none. src/executor/live/modules/mpi is built once per MPI whose compiler wrapper is found.
set(DLNB_MODULES_BUILD ${CMAKE_BINARY_DIR}/lib/dlnetbench)
set(DLNB_MODULES_INSTALL ${CMAKE_INSTALL_LIBDIR}/dlnetbench)
file(RELATIVE_PATH modules_beside_program /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${DLNB_MODULES_INSTALL})
target_compile_definitions(dlnb_live PRIVATE DLNB_MODULE_FOLDER="${modules_beside_program}")

# Splits the wrapper's flags into what targets understand; MPI's own C++ interface is not used.
function(dlnb_mpi_module name wrapper compile_query link_query)
  option(DLNB_MPI_${name} "Build the ${name} module where ${wrapper} is found" ON)
  find_program(DLNB_MPICC_${name} NAMES ${wrapper} mpicc)
  if(NOT DLNB_MPI_${name} OR NOT DLNB_MPICC_${name})
    message(STATUS "MPI module ${name}: not built (${wrapper} not found or switched off)")
    return()
  endif()
  set(mpicc ${DLNB_MPICC_${name}})
  execute_process(COMMAND ${mpicc} ${compile_query} OUTPUT_VARIABLE compile RESULT_VARIABLE failed
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${mpicc} ${link_query} OUTPUT_VARIABLE link RESULT_VARIABLE failed_too
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${mpicc} --showme:version RESULT_VARIABLE not_open_mpi OUTPUT_QUIET ERROR_QUIET)
  if(failed OR failed_too OR (name STREQUAL MPICH AND NOT not_open_mpi))
    message(STATUS "MPI module ${name}: not built (${mpicc} is another MPI's wrapper)")
    return()
  endif()
  separate_arguments(compile UNIX_COMMAND "${compile}")
  separate_arguments(link UNIX_COMMAND "${link}")
  list(TRANSFORM compile REPLACE "^-I" "" OUTPUT_VARIABLE includes)
  list(FILTER includes INCLUDE REGEX "^/")
  list(FILTER link INCLUDE REGEX "^-[Ll]|^-Wl,-rpath")

  # 64-bit counts came with MPI 4.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/large_counts.cpp CONTENT
       "#include <mpi.h>\nint main() { return MPI_Bcast_c(nullptr, 0, MPI_BYTE, 0, MPI_COMM_SELF); }\n")
  try_compile(DLNB_MPI_${name}_LARGE_COUNTS ${CMAKE_BINARY_DIR}/generated/large_counts_${name}
              ${CMAKE_BINARY_DIR}/generated/large_counts.cpp CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${includes}"
              COMPILE_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX LINK_LIBRARIES ${link})
  set(calls calls_32.cpp)
  if(DLNB_MPI_${name}_LARGE_COUNTS)
    set(calls calls_64.cpp)
  endif()
  message(STATUS "MPI module ${name}: ${DLNB_MPICC_${name}}, ${calls}")

  string(TOLOWER ${name} lower)
  set(folder ${PROJECT_SOURCE_DIR}/src/executor/live)
  add_library(dlnb_mpi_${lower} MODULE ${folder}/modules/mpi/transport.cpp ${folder}/modules/mpi/types.cpp
                                       ${folder}/modules/mpi/${calls} ${folder}/reduction.cpp)
  set_target_properties(dlnb_mpi_${lower} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden
                                          VISIBILITY_INLINES_HIDDEN ON
                                          LIBRARY_OUTPUT_DIRECTORY ${DLNB_MODULES_BUILD})
  target_include_directories(dlnb_mpi_${lower} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                      ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(dlnb_mpi_${lower} SYSTEM PRIVATE ${includes})
  target_compile_definitions(dlnb_mpi_${lower} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(dlnb_mpi_${lower} PRIVATE dlnb_warnings ${link})
  add_dependencies(dlnb_live dlnb_mpi_${lower})
  install(TARGETS dlnb_mpi_${lower} LIBRARY DESTINATION ${DLNB_MODULES_INSTALL})
endfunction()

dlnb_mpi_module(OPENMPI mpicc.openmpi --showme:compile --showme:link)
dlnb_mpi_module(MPICH mpicc.mpich -show -show)

# Adding up is the one loop of ours that a measurement waits for.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/executor/live/reduction.cpp PROPERTIES
                            COMPILE_OPTIONS -O3)

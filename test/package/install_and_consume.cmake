# The environment must not help: what is found is found from where the program stands.
foreach(variable IN ITEMS DLNETBENCH_DATA DLNETBENCH_MODULES DLNETBENCH_MPI LD_LIBRARY_PATH)
  unset(ENV{${variable}})
endforeach()
set(PREFIX ${WORK}/moved)
file(REMOVE_RECURSE ${WORK}/installed ${PREFIX} ${WORK}/consumer)

# Fails unless the command succeeds and its output matches.
function(expect pattern)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${PREFIX} OUTPUT_VARIABLE output ERROR_VARIABLE talk
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT output MATCHES "${pattern}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexit ${status}; wanted '${pattern}' in\n${output}\n${talk}")
  endif()
endfunction()

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK}/installed ${PREFIX})

# A model that only this prefix has: the data is not the source tree's, which the program knows too.
file(READ ${PREFIX}/share/dlnetbench/models/vit-b.toml model)
string(REPLACE "\"vit-b\"" "\"only-here\"" model "${model}")
file(WRITE ${PREFIX}/share/dlnetbench/models/only-here.toml "${model}")
set(program ${PREFIX}/${BIN}/dlnetbench)
set(sizes --ranks 2 --plan dp --batch 16)
expect("\nonly-here " ${program} list models)
expect("sound: dp on 2 ranks" ${program} schedule check ${sizes} --model only-here)
expect("only-here · leonardo" ${program} simulate ${sizes} --model only-here --machine leonardo)

# No library is looked for in the trees this was built from.
file(GLOB modules ${PREFIX}/${MODULES}/*.so)
foreach(file IN LISTS program modules)
  execute_process(COMMAND readelf -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  foreach(tree IN ITEMS ${BUILD} ${SOURCE})
    string(FIND "${dynamic}" "${tree}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} needs ${tree} at run time:\n${dynamic}")
    endif()
  endforeach()
endforeach()
if(MPI)
  if(NOT modules)
    message(FATAL_ERROR "MPI modules were built, and none is in ${PREFIX}/${MODULES}")
  endif()
  expect("only-here · this host" ${program} run --backend mpi ${sizes} --model only-here --scale 1/4096 --iterations 2)
endif()

foreach(script IN ITEMS bash-completion/completions/dlnetbench zsh/site-functions/_dlnetbench
                        fish/vendor_completions.d/dlnetbench.fish)
  file(READ ${PREFIX}/share/${script} text)
  if(NOT text MATCHES "schedule")
    message(FATAL_ERROR "share/${script} completes nothing")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/consumer -G ${GENERATOR}
                        -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${PREFIX}
                OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/consumer OUTPUT_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "a program that links dlnetbench::dlnb does not build:\n${output}")
endif()
set(ENV{DLNETBENCH_DATA} ${PREFIX}/share/dlnetbench)
expect("^only-here on 4 ranks: [1-9][0-9]* operations, iteration 0\\.[0-9]* s\n$" ${WORK}/consumer/consumer)

set(ENV{CCACHE_NOHASHDIR} 1)  # with -g the build folder would count as a difference
set(BUILD ${WORK}/build)

execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DCMAKE_BUILD_TYPE=${TYPE} -DCMAKE_CXX_FLAGS=${FLAGS} -DDLNB_EXTENSIONS=${HERE}/overlay
                        -DDLNB_WEB=OFF -DDLNB_MPI_OPENMPI=OFF -DDLNB_MPI_MPICH=OFF
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target dlnetbench test_schedule
                OUTPUT_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the extended build fails:\n${output}")
endif()

# Data needs no compiler: a copy of the shipped files and two more.
file(REMOVE_RECURSE ${WORK}/data)
file(COPY ${SOURCE}/data ${HERE}/data DESTINATION ${WORK})
set(ENV{DLNETBENCH_DATA} ${WORK}/data)

# Fails unless the command ends with `status` and its output matches.
function(expect status pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE talk RESULT_VARIABLE found)
  if(NOT found EQUAL status OR NOT "${output}${talk}" MATCHES "${pattern}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexit ${found}, wanted ${status}; wanted '${pattern}' in\n${output}\n${talk}")
  endif()
endfunction()

set(program ${BUILD}/dlnetbench)
expect(0 "\nensemble " ${program} list passes)
expect(0 "\nslowest_iteration " ${program} list metrics)
expect(0 "\nring " ${program} list topologies)
expect(0 "\ntwo-layers " ${program} list models)
expect(0 "\nnecklace " ${program} list machines)

# The suite over all passes has taken the new one in.
expect(0 "Passes/EveryPass.IsSoundAloneAndWithEveryOther/ensemble.*PASSED" ${BUILD}/test/test_schedule
       --gtest_filter=*EveryPass*)

set(plan --model two-layers --plan data=4,ensemble=2 --ranks 8)
expect(0 "sound: data=4,ensemble=2 on 8 ranks" ${program} schedule check ${plan})
expect(0 "barrier[^\n]*ensemble" ${program} schedule print ${plan})
expect(0 "" ${program} simulate ${plan} --machine necklace -o ${WORK}/result.json)
file(READ ${WORK}/result.json result)
string(JSON seconds GET "${result}" metrics slowest_iteration value)
if(NOT seconds GREATER 0)
  message(FATAL_ERROR "slowest_iteration is '${seconds}' in ${WORK}/result.json")
endif()
expect(2 "plan.ensemble.*degre" ${program} schedule check --model two-layers --plan "ensemble={degre=2}" --ranks 2)

# A folder that is no registry is refused, not passed over.
file(COPY ${HERE}/overlay/schedule/passes/ensemble.cpp DESTINATION ${WORK}/misspelt/schedule/pases)
expect(1 "schedule/pases/ensemble.cpp, which is in no" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/refused
       -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DDLNB_EXTENSIONS=${WORK}/misspelt -DDLNB_WEB=OFF
       -DDLNB_TESTS=OFF -DDLNB_MPI_OPENMPI=OFF -DDLNB_MPI_MPICH=OFF)

# Two sizes of one plan, for the scaling figure, and a pipeline, for the bubble.
include(${CMAKE_CURRENT_LIST_DIR}/report_of.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(results "")
function(simulated name)
  execute_process(COMMAND ${PROGRAM} simulate ${ARGN} -o ${WORK}/${name}.json COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND results ${WORK}/${name}.json)
  set(results ${results} PARENT_SCOPE)
endfunction()
simulated(dp-8 --plan dp --model vit-h --machine leonardo --ranks 8)
simulated(dp-16 --plan dp --model vit-h --machine leonardo --ranks 16)
simulated(pipeline-8 --plan dp+pp --model minerva-7b --machine leonardo --ranks 8)
# Two jobs that meet on the cables between groups, for who slowed whom.
file(WRITE ${WORK}/jobs.toml "machine = \"leonardo\"\nnodes = 360\nplacement = \"inter-group\"\nmodel = \"minerva-7b\"\n\
ranks = 128\n[[job]]\nname = \"victim\"\nplan = \"dp+pp\"\n[[job]]\nname = \"neighbour\"\nplan = \"fsdp\"\n")
execute_process(COMMAND ${PROGRAM} simulate --spec ${WORK}/jobs.toml -o ${WORK}/jobs.json COMMAND_ERROR_IS_FATAL ANY)
report_of(${WORK} ${results} ${WORK}/jobs.victim.json ${WORK}/jobs.neighbour.json)

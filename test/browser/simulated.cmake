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
# Two jobs whose nodes are on the same two switches: the one cable between these has two users.
file(WRITE ${WORK}/jobs.toml [=[
machine = "alps"
nodes = 128
model = "vit-h"
plan = "dp"
ranks = 8
[[job]]
name = "victim"
devices = "0-3,32-35"
[[job]]
name = "neighbour"
devices = "4-7,36-39"
]=])
execute_process(COMMAND ${PROGRAM} simulate --spec ${WORK}/jobs.toml -o ${WORK}/jobs.json COMMAND_ERROR_IS_FATAL ANY)
report_of(${WORK} ${results} ${WORK}/jobs.victim.json ${WORK}/jobs.neighbour.json)

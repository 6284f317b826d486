# Writes WORK/report.html over RESULTS with the program, and opens it in the browser.
function(report_of work)
  execute_process(COMMAND ${PROGRAM} report ${ARGN} -o ${work}/report.html COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${NODE} ${TEST} --modules ${MODULES} ${work}/report.html RESULT_VARIABLE status)
  if(status EQUAL 77)
    return()  # it said "skipped: " and why
  endif()
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the report in ${work} is not what it should be")
  endif()
endfunction()

# A prefix that works wherever it is moved to: the program finds data and modules from where it stands
# (core/data.cpp, executor/live/mpi_library.cpp), and the CMake package finds its files from where it stands.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/dlnetbench)

install(TARGETS dlnetbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION share/dlnetbench)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The program writes its own completions.
set(completions ${PROJECT_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
foreach(shell IN ITEMS bash zsh fish)
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:dlnetbench>\" completion ${shell}
                                OUTPUT_FILE \"${completions}/${shell}\" COMMAND_ERROR_IS_FATAL ANY)")
endforeach()
install(FILES ${completions}/bash DESTINATION share/bash-completion/completions RENAME dlnetbench)
install(FILES ${completions}/zsh DESTINATION share/zsh/site-functions RENAME _dlnetbench)
install(FILES ${completions}/fish DESTINATION share/fish/vendor_completions.d RENAME dlnetbench.fish)

# The library: find_package(dlnetbench), target dlnetbench::dlnb, <dlnb/run.hpp>.
target_compile_features(dlnb_nouns INTERFACE cxx_std_20)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dlnb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS dlnb dlnb_nouns dlnb_core dlnb_config dlnb_model dlnb_machine dlnb_schedule dlnb_sim dlnb_live
                dlnb_analysis dlnb_calibration dlnb_report
        EXPORT dlnetbench ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT dlnetbench NAMESPACE dlnetbench:: DESTINATION ${package} FILE dlnetbenchTargets.cmake)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dlnetbenchConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/dlnetbenchConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/dlnetbenchConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/dlnetbenchConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/dlnetbenchConfigVersion.cmake DESTINATION ${package})

# Writes the commit of the sources to FILE, which changes only with it. Empty: they are no git checkout.
execute_process(COMMAND git -C ${SOURCES} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCES} rev-parse --short=8 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCES} --no-optional-locks status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
file(REAL_PATH ${SOURCES} sources)
if(failed OR NOT top STREQUAL sources)  # It may lie in the checkout of something else.
  set(commit "")
elseif(changes)
  string(APPEND commit ", changed")
endif()
set(text "#define HBMSCOPE_COMMIT \"${commit}\"\n")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT "${text}" STREQUAL "${before}")
  file(WRITE ${FILE} "${text}")
endif()

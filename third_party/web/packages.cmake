# The libraries of packages.cmake for WebAssembly, from the sources of Debian's packages (fetch_sources.py), under the same
# names.
set(HBMSCOPE_WEB_SOURCES ${PROJECT_SOURCE_DIR}/build/third_party/web CACHE PATH "The unpacked sources of Debian's packages, for the page in a browser")
find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fetch_sources.py ${HBMSCOPE_WEB_SOURCES} COMMAND_ERROR_IS_FATAL ANY)
set(sources ${HBMSCOPE_WEB_SOURCES})

# Headers that are all there is; the compiler must not see the rest of /usr/include.
set(headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name fmt nlohmann tl)
  file(CREATE_LINK /usr/include/${name} ${headers}/${name} SYMBOLIC)
endforeach()
include_directories(SYSTEM ${headers})
foreach(name nlohmann_json::nlohmann_json tl::expected)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
endforeach()
add_library(hbmscope_fmt INTERFACE)
# One thread: work is done between frames.
add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)

# hbmscope_web_library(NAME TARGET FOLDER sources...): under the name that the package has elsewhere.
function(hbmscope_web_library name target folder)
  file(GLOB files ${ARGN})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${files})
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  target_compile_options(${name} PRIVATE -w -O2)
  add_library(${target} ALIAS ${name})
endfunction()
set(z ${sources}/zlib)
hbmscope_web_library(web_z ZLIB::ZLIB ${z} ${z}/adler32.c ${z}/crc32.c ${z}/deflate.c ${z}/inffast.c ${z}/inflate.c ${z}/inftrees.c ${z}/trees.c ${z}/zutil.c)
set(bz2 ${sources}/bzip2)
hbmscope_web_library(web_bz2 BZip2::BZip2 ${bz2} ${bz2}/blocksort.c ${bz2}/huffman.c ${bz2}/crctable.c ${bz2}/randtable.c ${bz2}/compress.c ${bz2}/decompress.c ${bz2}/bzlib.c)
set(zstd ${sources}/libzstd/lib)
hbmscope_web_library(web_zstd PkgConfig::zstd ${zstd} ${zstd}/common/*.c ${zstd}/compress/*.c ${zstd}/decompress/*.c)
target_compile_definitions(web_zstd PRIVATE ZSTD_DISABLE_ASM)
set(deflate ${sources}/libdeflate)
hbmscope_web_library(web_deflate PkgConfig::libdeflate ${deflate} ${deflate}/lib/*.c)
set(xxhash ${sources}/xxhash)
hbmscope_web_library(web_xxhash PkgConfig::xxhash ${xxhash} ${xxhash}/xxhash.c)
set(re2 ${sources}/re2)
hbmscope_web_library(web_re2 PkgConfig::re2 ${re2} ${re2}/re2/*.cc ${re2}/util/rune.cc ${re2}/util/strutil.cc)
set(sqlite3 ${sources}/sqlite3/amalgamation)
hbmscope_web_library(web_sqlite3 PkgConfig::sqlite3 ${sqlite3} ${sqlite3}/sqlite3.c)
target_compile_definitions(web_sqlite3 PRIVATE SQLITE_THREADSAFE=0 SQLITE_OMIT_LOAD_EXTENSION)

set(lzma ${sources}/xz-utils/src)  # What unpacks.
set(decoders common/common.c common/*decoder*.c common/block_util.c common/filter_common.c common/hardware_*.c common/index*.c common/stream_flags_common.c common/vli_size.c
    check/check.c check/crc32_*.c check/crc64_*.c check/sha256.c lz/lz_decoder.c lzma/lzma_decoder.c lzma/lzma2_decoder.c delta/delta_common.c delta/delta_decoder.c
    simple/simple_coder.c simple/simple_decoder.c simple/x86.c simple/arm*.c simple/ia64.c simple/powerpc.c simple/sparc.c)
list(TRANSFORM decoders PREPEND ${lzma}/liblzma/)
hbmscope_web_library(web_lzma PkgConfig::lzma ${lzma}/liblzma/api ${decoders})
get_target_property(files web_lzma SOURCES)
list(FILTER files EXCLUDE REGEX "tablegen|encoder|_mt\\.c$|crc(32|64)_small")
set_target_properties(web_lzma PROPERTIES SOURCES "${files}")
target_include_directories(web_lzma PRIVATE ${lzma}/common ${lzma}/liblzma/common ${lzma}/liblzma/check ${lzma}/liblzma/lz ${lzma}/liblzma/lzma ${lzma}/liblzma/delta
                           ${lzma}/liblzma/simple ${lzma}/liblzma/rangecoder)
target_compile_definitions(web_lzma PRIVATE HAVE_STDBOOL_H HAVE_STDINT_H HAVE_INTTYPES_H HAVE_STRING_H HAVE_LIMITS_H HAVE__BOOL TUKLIB_SYMBOL_PREFIX=lzma_ SIZEOF_SIZE_T=4
  HAVE_CHECK_CRC32 HAVE_CHECK_CRC64 HAVE_CHECK_SHA256 HAVE_DECODERS HAVE_DECODER_LZMA1 HAVE_DECODER_LZMA2 HAVE_DECODER_DELTA HAVE_DECODER_X86 HAVE_DECODER_ARM HAVE_DECODER_ARM64
  HAVE_DECODER_ARMTHUMB HAVE_DECODER_IA64 HAVE_DECODER_POWERPC HAVE_DECODER_SPARC HAVE_LZIP_DECODER)

set(protobuf ${sources}/protobuf)
file(GLOB protobuf_lite
  ${protobuf}/src/google/protobuf/any_lite.cc ${protobuf}/src/google/protobuf/arena*.cc ${protobuf}/src/google/protobuf/extension_set.cc
  ${protobuf}/src/google/protobuf/generated_enum_util.cc ${protobuf}/src/google/protobuf/generated_message_table_driven_lite.cc
  ${protobuf}/src/google/protobuf/generated_message_tctable_lite.cc ${protobuf}/src/google/protobuf/generated_message_util.cc
  ${protobuf}/src/google/protobuf/implicit_weak_message.cc ${protobuf}/src/google/protobuf/inlined_string_field.cc ${protobuf}/src/google/protobuf/map.cc
  ${protobuf}/src/google/protobuf/io/coded_stream.cc ${protobuf}/src/google/protobuf/io/io_win32.cc ${protobuf}/src/google/protobuf/io/strtod.cc
  ${protobuf}/src/google/protobuf/io/zero_copy_stream.cc ${protobuf}/src/google/protobuf/io/zero_copy_stream_impl.cc ${protobuf}/src/google/protobuf/io/zero_copy_stream_impl_lite.cc
  ${protobuf}/src/google/protobuf/message_lite.cc ${protobuf}/src/google/protobuf/parse_context.cc ${protobuf}/src/google/protobuf/repeated_field.cc
  ${protobuf}/src/google/protobuf/repeated_ptr_field.cc ${protobuf}/src/google/protobuf/string_member_robber.h ${protobuf}/src/google/protobuf/wire_format_lite.cc
  ${protobuf}/src/google/protobuf/stubs/bytestream.cc ${protobuf}/src/google/protobuf/stubs/common.cc ${protobuf}/src/google/protobuf/stubs/int128.cc
  ${protobuf}/src/google/protobuf/stubs/status.cc ${protobuf}/src/google/protobuf/stubs/statusor.cc ${protobuf}/src/google/protobuf/stubs/stringpiece.cc
  ${protobuf}/src/google/protobuf/stubs/stringprintf.cc ${protobuf}/src/google/protobuf/stubs/structurally_valid.cc ${protobuf}/src/google/protobuf/stubs/strutil.cc
  ${protobuf}/src/google/protobuf/stubs/time.cc)
list(FILTER protobuf_lite EXCLUDE REGEX "test|arenaz_sampler_test|\\.h$")
add_library(web_protobuf STATIC EXCLUDE_FROM_ALL ${protobuf_lite})
target_include_directories(web_protobuf SYSTEM PUBLIC ${protobuf}/src)
target_compile_definitions(web_protobuf PUBLIC GOOGLE_PROTOBUF_NO_THREADLOCAL=0)
target_compile_options(web_protobuf PRIVATE -w)
add_library(protobuf::libprotobuf-lite ALIAS web_protobuf)
find_program(HBMSCOPE_PROTOC protoc REQUIRED)
function(protobuf_generate)
  cmake_parse_arguments(ARG "" "TARGET;LANGUAGE;IMPORT_DIRS" "PROTOS" ${ARGN})
  foreach(proto IN LISTS ARG_PROTOS)
    get_filename_component(name ${proto} NAME_WE)
    add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.pb.cc ${CMAKE_CURRENT_BINARY_DIR}/${name}.pb.h
      COMMAND ${HBMSCOPE_PROTOC} --cpp_out=${CMAKE_CURRENT_BINARY_DIR} -I${ARG_IMPORT_DIRS} ${ARG_IMPORT_DIRS}/${proto}
      DEPENDS ${ARG_IMPORT_DIRS}/${proto} VERBATIM)
    target_sources(${ARG_TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.pb.cc)
  endforeach()
endfunction()
function(hbmscope_carry_cxx_library target)
endfunction()

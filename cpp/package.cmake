# The header-only C++ library polhode::polhode, and the CMake package, which has polhode::library too.
#
# Install rules are relative: a wheel holds include/polhode and share/cmake/polhode inside the
# Python package (polhode.get_include(), polhode.get_cmake_dir()), `cmake --install` puts the same
# below its prefix.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
option(
  POLHODE_INSTALL
  "Install the library, its headers and its CMake package"
  ${PROJECT_IS_TOP_LEVEL}
)
set(POLHODE_LIBRARY_FOLDER ${CMAKE_INSTALL_LIBDIR})
if(SKBUILD)
  set(POLHODE_LIBRARY_FOLDER lib)
endif()

add_library(polhode INTERFACE)
add_library(polhode::polhode ALIAS polhode)
target_compile_features(polhode INTERFACE cxx_std_20)
target_include_directories(
  polhode
  SYSTEM
  INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/cpp/include> $<INSTALL_INTERFACE:include>
)
# polhode.hpp compiles the kernels in place of calling libpolhode; it uses threads where it is asked to.
target_compile_definitions(polhode INTERFACE POLHODE_HEADER_ONLY)
target_link_options(polhode INTERFACE $<$<LINK_LANG_AND_ID:CXX,GNU,Clang>:-pthread>)
# The arithmetic of IEEE 754, also after -ffast-math or a part of it in CMAKE_CXX_FLAGS.  Fused
# multiply-adds are explicit in the headers; the compiler adds none, so that a kernel gives the same
# bits in every program.  (GCC 12 makes some in spite of -ffp-contract=off where it vectorises
# straight-line code.)
set(
  POLHODE_ARITHMETIC
  -fno-fast-math
  -fno-associative-math
  -fno-reciprocal-math
  -fno-finite-math-only
  -fsigned-zeros
  -fno-math-errno
  -ffp-contract=off
  $<$<CXX_COMPILER_ID:GNU>:-fno-unsafe-math-optimizations>
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize>
)
# GCC keeps the packs of a kernel in registers only with a higher limit.  A build without a build type
# is optimised: kernels are a hundred times slower without.
target_compile_options(
  polhode
  INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-pthread>
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${POLHODE_ARITHMETIC}>"
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=sra-max-scalarization-size-Ospeed=4096>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>,$<STREQUAL:$<CONFIG>,>>:-O3>
)
if(NOT POLHODE_INSTALL)
  return()
endif()

install(DIRECTORY cpp/include/ DESTINATION include)
install(TARGETS polhode EXPORT polhode)
install(EXPORT polhode NAMESPACE polhode:: FILE polhodeConfig.cmake DESTINATION share/cmake/polhode)
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/polhodeConfigVersion.cmake
  VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT
)
install(
  FILES ${CMAKE_CURRENT_BINARY_DIR}/polhodeConfigVersion.cmake
  DESTINATION share/cmake/polhode
)
if(NOT SKBUILD)
  file(RELATIVE_PATH POLHODE_PREFIX /${POLHODE_LIBRARY_FOLDER}/pkgconfig /)
  configure_file(packaging/polhode.pc.in polhode.pc @ONLY)
  install(
    FILES ${CMAKE_CURRENT_BINARY_DIR}/polhode.pc
    DESTINATION ${POLHODE_LIBRARY_FOLDER}/pkgconfig
  )
endif()

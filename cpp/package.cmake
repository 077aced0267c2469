# The header-only C++ library polhode::polhode, and the CMake package, which has polhode::library too.
#
# Install rules are relative: a wheel holds include/polhode and share/cmake/polhode inside the
# Python package (polhode.get_include(), polhode.get_cmake_dir()), `cmake --install` puts the same
# below its prefix.

include(CMakePackageConfigHelpers)

add_library(polhode INTERFACE)
add_library(polhode::polhode ALIAS polhode)
target_compile_features(polhode INTERFACE cxx_std_20)
target_include_directories(
  polhode
  INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/cpp/include> $<INSTALL_INTERFACE:include>
)
# polhode.hpp compiles the kernels in place of calling libpolhode; it uses threads where it is asked to.
target_compile_definitions(polhode INTERFACE POLHODE_HEADER_ONLY)
target_link_options(polhode INTERFACE $<$<LINK_LANG_AND_ID:CXX,GNU,Clang>:-pthread>)
# Fused multiply-adds stand in the headers where they are meant; the compiler adds none, so that
# a kernel gives the same bits in every program.  (GCC 12 makes some in spite of -ffp-contract=off
# where it vectorises straight-line code.)  GCC keeps the packs of a kernel in registers only with a
# higher limit.  A build without a build type is optimised: kernels are a hundred times slower without.
target_compile_options(
  polhode
  INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-pthread>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-ffp-contract=off>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fno-math-errno>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-slp-vectorize>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=sra-max-scalarization-size-Ospeed=4096>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>,$<STREQUAL:$<CONFIG>,>>:-O3>
)

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

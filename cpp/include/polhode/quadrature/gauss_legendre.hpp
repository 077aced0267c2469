#pragma once

/// Gauss-Legendre quadrature on [0, 1] with 1 to 10 nodes, exact for polynomials of degree 2 p - 1.
///
/// Written by cpp/generate/make_gauss_legendre.py (roots of the Legendre polynomials at 60 digits).

#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(quadrature)

/// A constant as the sum of a double and two remainders: 159 bits or more.
struct ThreeDoubles {
    double high = 0.0, middle = 0.0, low = 0.0;

    template <class T>
    POLHODE_INLINE T as() const {
        if constexpr (epsilon_v<T> < 0x1p-60) return T(high) + (T(middle) + T(low));
        return T(high);
    }
};

/// The nodes 1/2 - distance and 1/2 + distance (one node where distance = 0), each with this
/// weight.
struct GaussPair {
    ThreeDoubles distance, weight;
};

/// A constant computed from a distance of the rule, in double unless T has more precision.
template <class T, class F>
POLHODE_INLINE T from_distance(const GaussPair& pair, F f) {
    if constexpr (wider_than_double<T>) {
        return f(pair.distance.template as<T>());
    } else {
        return T(f(pair.distance.high));
    }
}

inline constexpr int gauss_legendre_most_nodes = 10;

/// The pairs of all rules, one rule after another, each from the middle outwards.
inline constexpr GaussPair gauss_legendre_pairs[] = {
    {{}, {0x1.0000000000000p+0}},
    {{0x1.279a74590331cp-2, 0x1.34863e0792bedp-56, -0x1.a82f9e6c53222p-110},
     {0x1.0000000000000p-1}},
    {{}, {0x1.c71c71c71c71cp-2, 0x1.c71c71c71c71cp-56, 0x1.c71c71c71c71cp-110}},
    {{0x1.8c97ef43f7248p-2, -0x1.f686ffcf96727p-57, 0x1.cc83c0f86b50fp-116},
     {0x1.1c71c71c71c72p-2, -0x1.c71c71c71c71cp-57, -0x1.c71c71c71c71cp-111}},
    {{0x1.5c23fd9dd3dfcp-3, 0x1.146188781babdp-58, -0x1.85ecbf3cc364bp-115},
     {0x1.4de5f840c24cap-2, 0x1.b9588ac6bf1d0p-56, -0x1.59b1828fbdc50p-111}},
    {{0x1.b8e6dbcf63985p-2, 0x1.8c678c919a950p-60, -0x1.80ba106464f09p-114},
     {0x1.64340f7e7b66bp-3, 0x1.1a9dd4e5038c1p-58, -0x1.4c9cfae084760p-112}},
    {{}, {0x1.23456789abcdfp-2, 0x1.23456789abcdfp-62, 0x1.23456789abcdfp-122}},
    {{0x1.13b23fd99b705p-2, -0x1.33a85c1363196p-57, 0x1.6eaa3b0077f90p-112},
     {0x1.ea1da25ae415bp-3, -0x1.a64d03c22ea0cp-60, -0x1.d3c2f556cd1c2p-114}},
    {{0x1.cff6ce0533a69p-2, 0x1.0c6011f8224d8p-56, -0x1.28c2c7958f6adp-115},
     {0x1.e539ec36e038cp-4, 0x1.81e456d0f9271p-60, -0x1.accead5cf7b9cp-114}},
    {{0x1.e8b12d03675c5p-4, 0x1.210ff0dd06c76p-59, -0x1.ff4d5348c39d5p-113},
     {0x1.df24d499545e8p-3, 0x1.7d0c671997d88p-58, -0x1.3be329ed87428p-112}},
    {{0x1.528a09655c95ep-2, 0x1.2841f0aa540ddp-56, 0x1.823746dee5606p-110},
     {0x1.716b7b5794c1cp-3, 0x1.804afd6f1c9ffp-61, -0x1.43f53d3d07968p-116}},
    {{0x1.dd6ca4e80a01ep-2, -0x1.9a5ca65fce91cp-57, -0x1.9ae6a97ad1459p-111},
     {0x1.5edf601e2dbf8p-4, -0x1.ad15c6c77b6c8p-58, 0x1.d0227dc157bbep-112}},
    {{}, {0x1.abfd7e03c2fa6p-3, -0x1.1de2532c833d4p-57, 0x1.36f62d8ebba9ep-111}},
    {{0x1.9f95df119fd62p-3, -0x1.3e3166754b924p-57, 0x1.0337d5da7f05dp-111},
     {0x1.86fe74ee32b3dp-3, 0x1.934be873ed303p-57, 0x1.4f0f26767dbc2p-113}},
    {{0x1.7ba9f9be3a1d6p-2, -0x1.74fee30124566p-57, -0x1.0662d892e0c46p-111},
     {0x1.1e6b1713d8644p-3, 0x1.ad3426eb6ee1ep-57, 0x1.cfc33b3871a50p-113}},
    {{0x1.e5f178e7c6229p-2, 0x1.60de1160da0d9p-56, 0x1.ae781fec99cabp-111},
     {0x1.092f69f826d57p-4, -0x1.631dcb9234e6fp-58, 0x1.39a0a199cca58p-112}},
    {{0x1.77ac94f3c7345p-4, -0x1.ab7ccf07e9ddfp-60, -0x1.cfe8beefc5689p-115},
     {0x1.736360b199343p-3, -0x1.0b64569cc3084p-58, 0x1.e0f3b8c3592b6p-115}},
    {{0x1.0d129583284b4p-2, -0x1.70ed957741527p-59, 0x1.9642068b6f703p-113},
     {0x1.413c50a255615p-3, 0x1.50ff06c1e9798p-57, 0x1.f0e2d30390bd7p-112}},
    {{0x1.97e4ab249f41ep-2, 0x1.ace9d1bf616efp-58, -0x1.6a7a4ae703225p-118},
     {0x1.c76fb531d2b96p-4, -0x1.a88b639faee41p-58, 0x1.64b71914ad6f1p-114}},
    {{0x1.ebab1cb0acc67p-2, -0x1.ffca884691608p-56, -0x1.2d01984345263p-110},
     {0x1.9ea1d04ca0374p-5, 0x1.1f1acb89ef946p-62, -0x1.8bc41849cfa79p-118}},
    {{}, {0x1.522a43f65486ap-3, -0x1.604db055bd075p-57, 0x1.34e86fd912b28p-111}},
    {{0x1.4c0916e48aa66p-3, 0x1.e7df25936e254p-58, 0x1.3c92edd8dba5ap-112},
     {0x1.3fd7e9838d512p-3, -0x1.a4cb51a644c3bp-57, 0x1.2cb2ada792efbp-112}},
    {{0x1.3a0bd2077fd8cp-2, 0x1.6d37cd5453c82p-56, -0x1.44a41b7e4f52fp-110},
     {0x1.0add87c827506p-3, 0x1.c41bffe040987p-57, -0x1.665a4ce346266p-111}},
    {{0x1.ac0c44f0d0298p-2, 0x1.c8c0a64c271c7p-57, -0x1.5d6bdd3fdcc67p-113},
     {0x1.71f7a9b222beap-4, 0x1.2c7d0e2f266c9p-58, -0x1.f7ae5fca9be6ap-112}},
    {{0x1.efb2b2ebf2106p-2, 0x1.25db4dcedf2f8p-59, -0x1.29a487aa738f3p-116},
     {0x1.4ce65f803eef8p-5, -0x1.5a1749ac21d6dp-63, 0x1.63ee084148987p-119}},
    {{0x1.30e507891e27ap-4, -0x1.63bb922336b02p-59, 0x1.99d9e40ba5421p-115},
     {0x1.2e9de7014d6efp-3, 0x1.6072a8b773ac9p-64, -0x1.177d0e9f1457fp-121}},
    {{0x1.bbcc009016adcp-3, -0x1.a0e67f143f616p-57, -0x1.8e997c6ba3003p-112},
     {0x1.13baa7a559bfep-3, 0x1.93022bb8a62ccp-59, 0x1.c65ef2c12e05cp-113}},
    {{0x1.5bdb9228de198p-2, -0x1.0ec04632d439cp-56, -0x1.b6d073d706eb6p-111},
     {0x1.c0b059d00bc31p-4, 0x1.6353a1ea2b80ap-60, -0x1.322ed7fe6793ep-115}},
    {{0x1.bae995e9cb2f3p-2, -0x1.d87cc1118f782p-57, -0x1.06765915b2ee5p-111},
     {0x1.32138c878efe5p-4, 0x1.cdb2056bdce85p-59, 0x1.308523b8c0887p-113}},
    {{0x1.f2a3e062af2d8p-2, -0x1.aec94a7f3d41dp-57, 0x1.8f349482d7153p-111},
     {0x1.1115f8b62dc1fp-5, -0x1.d61975f5472cfp-63, -0x1.281c6d76b29d6p-118}},
};

/// The rule of p nodes, 1 <= p <= 10.
struct GaussLegendre {
    int nodes;

    constexpr int pairs() const { return (nodes + 1) / 2; }
    /// Pair k from the middle; k = 0 is the middle node itself where p is odd.
    constexpr const GaussPair& pair(int k) const {
        // Rules 1 ... p - 1 have floor(p^2/4) pairs.
        return gauss_legendre_pairs[nodes * nodes / 4 + k];
    }
    constexpr bool has_middle() const { return nodes % 2 == 1; }
};

POLHODE_NAMESPACE_END

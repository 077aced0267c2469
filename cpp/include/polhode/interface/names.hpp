#pragma once

/// Methods and splitting schemes as texts and numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <locale>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polhode/config.hpp"
#include "polhode/interface/validate.hpp"
#include "polhode/method_info.hpp"
#include "polhode/splitting/schemes.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}
inline void require_array(const void* array, const char* name) {
    if (array == nullptr) throw std::invalid_argument(std::string(name) + " is NULL");
}
/// Arrays that a call reads or writes, with their names.
inline void require_arrays(std::initializer_list<std::pair<const void*, const char*>> arrays) {
    for (const auto& [array, name] : arrays) require_array(array, name);
}

/// The name at the beginning of "name option=value option=value".
constexpr std::string_view name_in(std::string_view text) { return text.substr(0, text.find(' ')); }

inline double option_value(const Option& option, std::string_view text, const char* method) {
    const std::string value(text), kind = option.kind;
    const auto wrong = [&](const std::string& what) {
        return std::invalid_argument("option " + std::string(option.name) + " of " + method +
                                     " must be " + what + ", not " + value);
    };
    if (kind == "choice") {
        const std::string_view all = option.choices;
        double place = 0;
        for (std::size_t i = 0; i < all.size(); ++place) {
            const std::size_t end = std::min(all.find(' ', i), all.size());
            std::string_view choice = all.substr(i, end - i);
            if (choice == value) return place;
            if (choice.front() == '\'' && choice.substr(1, choice.size() - 2) == value) {
                return place;
            }
            i = end + 1;
        }
        throw wrong("one of " + std::string(all));
    }
    if (kind == "axes") {
        std::string sorted = value;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != "123") throw wrong("a permutation of 123");
    }
    std::istringstream stream(value);
    stream.imbue(std::locale::classic());  // a program in another language may use a comma
    double number = 0;
    if (!(stream >> number && stream.eof())) throw wrong("a number");
    return number;
}

/// The options in "name option=value option=value", others by default.
inline OptionValues options_in(std::string_view text, const MethodInfo& info) {
    OptionValues options = info.complete({});
    std::uint32_t given = 0;
    std::size_t i = name_in(text).size();
    while ((i = text.find_first_not_of(' ', i)) != std::string_view::npos) {
        const std::string_view pair = text.substr(i, text.find(' ', i) - i);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        int k = 0;
        while (k < info.option_count() && pair.substr(0, equals) != info.options[k].name) ++k;
        if (k == info.option_count() || equals == pair.size()) {
            throw std::invalid_argument("no option " + std::string(pair) + " of " + info.name);
        }
        if ((given >> k & 1U) != 0) {
            throw std::invalid_argument("option " + std::string(info.options[k].name) + " of " +
                                        info.name + " is given twice");
        }
        given |= std::uint32_t{1} << k;
        options.value[k] = option_value(info.options[k], pair.substr(equals + 1), info.name);
        i += pair.size();
    }
    if (info.contradiction != nullptr) {
        const char* what = info.contradiction(options);
        if (what != nullptr) throw std::invalid_argument(what);
    }
    return options;
}

/// A Butcher tableau as the kernels take it: stages, a, b, c.
inline std::vector<double> tableau_of(int stages, const double* a, const double* b) {
    require(stages >= 1, "a tableau has at least one stage");
    require_arrays({{a, "a"}, {b, "b"}});
    const auto s = static_cast<std::size_t>(stages);
    bool implicit = false;
    double sum = 0;
    std::vector<double> tableau{static_cast<double>(stages)};
    // Of a wrong number of stages no array is read.
    require(stages <= OptionValues::most_stages, "a tableau has at most 13 stages");
    tableau.insert(tableau.end(), a, a + s * s);
    tableau.insert(tableau.end(), b, b + s);
    for (std::size_t k = 0; k < s; ++k) {
        sum += b[k];
        double node = 0;
        for (std::size_t j = 0; j < s; ++j) {
            node += a[k * s + j];
            implicit = implicit || (j >= k && a[k * s + j] != 0);
        }
        tableau.push_back(node);
    }
    require(!implicit || stages <= OptionValues::most_implicit_stages,
            "an implicit tableau has at most 8 stages");
    for (const double x : tableau) require(std::isfinite(x), "a tableau must be finite");
    require(std::abs(sum - 1) <= 1e-9, "the weights b of a tableau must add up to 1");
    return tableau;
}

/// The stages of a scheme, and what the driver needs to know of it.
struct Scheme {
    std::span<const Stage> stages, processor{};
    bool attitude_only = false, midpoint_kicks = false;

    explicit Scheme(std::span<const Stage> own) : stages(own) {}
    explicit Scheme(const SplittingScheme& scheme)
        : stages{scheme.stages, static_cast<std::size_t>(scheme.count)},
          processor{scheme.processor, static_cast<std::size_t>(scheme.processor_count)},
          attitude_only(scheme.attitude_only),
          midpoint_kicks(scheme.order <= 2) {}
};
/// The scheme with this name.
inline const SplittingScheme& scheme_of(std::string_view name) {
    for (const SplittingScheme& scheme : splitting::all) {
        if (name == scheme.name) return scheme;
    }
    throw std::invalid_argument("no splitting scheme " + std::string(name));
}

/// The stages of a scheme of flows a and kicks b in turn; a flow is first where there are as many.
inline std::vector<Stage> own_scheme(std::span<const double> a, std::span<const double> b) {
    const std::size_t n = a.size() + b.size();
    require(n <= 1000, "a scheme has at most 1000 flows and kicks");
    require((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) <= 1,
            "flows and kicks alternate: their numbers differ by at most 1");
    for (const auto& [name, x] : {std::pair{"flows", a}, std::pair{"kicks", b}}) {
        double sum = 0;
        for (const double c : x) sum += c;
        if (!(std::abs(sum - 1) <= 1e-12)) {
            throw std::invalid_argument("the coefficients of the " + std::string(name) +
                                        " must add up to 1, not " + validate::digits(sum));
        }
    }
    std::vector<Stage> stages;
    for (std::size_t k = 0; k < n; ++k) {
        const bool kick = (k % 2 == 0) == (b.size() > a.size());
        stages.push_back({kick ? Stage::kick : Stage::flow, (kick ? b : a)[k / 2]});
    }
    return stages;
}

POLHODE_NAMESPACE_END

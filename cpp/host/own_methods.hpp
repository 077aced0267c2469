#pragma once

/// Methods and schemes that a program of the C interface makes, by their numbers.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "levels.hpp"
#include "polhode/interface/calls.hpp"
#include "polhode/splitting/schemes.hpp"

namespace polhode::dispatch {

/// Methods and schemes that a program has made; their numbers follow those of a table.  Equal ones
/// share a number, which is free again when each of their users has released it.
template <class Item>
class Made {
  public:
    explicit Made(int first) : first_(first) {}
    int number_of(Item item) {
        const std::scoped_lock lock(mutex_);
        int number = first_;
        for (auto& [used, entry] : entries_) {
            if (*entry.item == item) return ++entry.users, used;
            number += number == used;
        }
        entries_[number] = {std::make_shared<const Item>(std::move(item)), 1};
        return number;
    }
    void release(int number) {
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(number);
        if (found != entries_.end() && --found->second.users == 0) entries_.erase(found);
    }
    /// Null if there is none.
    std::shared_ptr<const Item> find(int number) {
        if (number < first_) return nullptr;
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(number);
        return found == entries_.end() ? nullptr : found->second.item;
    }

  private:
    struct Entry {
        std::shared_ptr<const Item> item;
        std::int64_t users;
    };
    std::mutex mutex_;
    std::map<int, Entry> entries_;
    int first_;
};

/// A method with options, or of a tableau.
struct OwnMethod {
    std::string text;
    int row;
    OptionValues options;
    std::vector<double> tableau{};

    bool operator==(const OwnMethod& x) const { return text == x.text && tableau == x.tableau; }
};
struct OwnScheme {
    std::vector<double> a, b;
    std::vector<Stage> stages;

    bool operator==(const OwnScheme& x) const { return a == x.a && b == x.b; }
};
// Never destroyed: a program may release its own when it ends.
inline Made<OwnMethod>& own_methods() {
    static auto& made = *new Made<OwnMethod>(level().torque_free->methods);
    return made;
}
inline Made<OwnScheme>& own_schemes() {
    static auto& made = *new Made<OwnScheme>(static_cast<int>(std::size(splitting::all)));
    return made;
}

/// Name of the row for methods that are made from a tableau, which no name chooses.
inline constexpr const char* made = "rkmk";

/// The row of the method with this name; -1 if there is none.
inline int row_of(std::string_view name) {
    const TorqueFreeTable& table = *level().torque_free;
    for (int i = 0; i < table.methods; ++i) {
        if (name == table.rows[i].info->name) return i;
    }
    return -1;
}

/// A method by its number, and its own data.
struct Chosen {
    interface::FreeMethod method;
    std::shared_ptr<const OwnMethod> own;

    Chosen(int number, std::ptrdiff_t bodies) : method{}, own(own_methods().find(number)) {
        const TorqueFreeTable& table = *level_for(bodies).torque_free;
        const OwnMethod* const mine = own.get();
        const int i = mine != nullptr ? mine->row : number;
        interface::require(
            i >= 0 && i < table.methods &&
                (mine != nullptr || std::strcmp(table.rows[i].info->name, made) != 0),
            "no such method");
        const StepRow& row = table.rows[i];
        method = {row.info,
                  row.step,
                  row.history,
                  mine != nullptr ? mine->options : row.info->complete({})};
        if (mine != nullptr && !mine->tableau.empty()) method.options.data = mine->tableau.data();
    }
};

}  // namespace polhode::dispatch

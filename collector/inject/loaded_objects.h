// The symbols of the programs and libraries that are loaded, read from their own tables: dlsym can't be asked for
// itself, and answers with our own entry points where somebody else's are wanted.
#pragma once

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;

namespace hbmscope::inject {

// The first function of that name in what was loaded after this library; null where there is none.
void* find_next_function(const char* name);
// The first in all that is loaded.
void* find_function(const char* name);
// The first after this library, while the program may be starting: calls no function of anybody's. For what is loaded
// from the start.
void* find_next_at_start(const char* name);
// The function of that name in the object that `address` lies in; null where there is none.
void* find_function_beside(const void* address, const char* name);

// The function of that name in the first loaded object whose file's name begins like that ("libc.so"); null: none.
void* find_function_in(const char* file, const char* name);
// The path of the first loaded object of which `is_it` says so, with `data`, into `path`. False: there is none, or its
// path is too long. `is_it` is called with the loader's lock held.
bool find_path(bool (*is_it)(const char* path, void* data), void* data, char* path, std::size_t bytes);
// What that object itself defines of that name; null: nothing. May be called with the loader's lock held.
void* find_function_of(const dl_phdr_info& object, const char* name);
void* find_data_of(const dl_phdr_info& object, const char* name);
// Whether the address lies in it. May be called with the loader's lock held.
bool contains(const dl_phdr_info& object, const void* address);
// What is behind the last slash.
const char* file_name_of(const char* path);

// By which name the object in which it lies exports the function at `address`, the first of several; null: by none. The
// text is the object's.
const char* find_name_of(const void* address);
// Whether it lies in anything that is loaded, and how often something was unloaded so far.
bool is_loaded(const void* address);
std::uint64_t count_unloads();

// Whether it lies in the program itself, which stands in front of all libraries.
bool is_in_program(const void* address);

}  // namespace hbmscope::inject

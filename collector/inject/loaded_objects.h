// The symbols of the loaded programs and libraries, read directly from their tables: dlsym can't look up itself, and it
// would return our entry points where another library's are wanted.
#pragma once

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;
struct link_map;

namespace hbmscope::inject {

// The loader's list of objects, which begins with the program. It can be read while the program is starting.
const link_map* first_loaded_object();
// The first function of that name in the objects that were loaded after this library, or after the one that contains
// `behind`, or null.
void* find_next_function(const char* name, const void* behind = nullptr);
// The first one in all loaded objects.
void* find_function(const char* name);
// The first one after this library, while the program may still be starting: calls no foreign function. For libraries
// loaded at the start.
void* find_next_at_start(const char* name);
// The function, or variable, of that name in the object that contains `address`, or null.
void* find_function_in_object_of(const void* address, const char* name);
void* find_data_in_object_of(const void* address, const char* name);

// The function of that name in the first loaded object whose file name begins with `file` ("libc.so"), or null if there
// is none.
void* find_function_in(const char* file, const char* name);
// Finds the first loaded object for which `is_it`, called with `data`, returns true, and writes its path into `path`.
// False: there is none, or its path is too long. `is_it` is called with the loader's lock held.
bool find_path(bool (*is_it)(const char* path, void* data), void* data, char* path, std::size_t bytes);
// The definition of that name in the object itself, or null. May be called with the loader's lock held.
void* find_function_of(const dl_phdr_info& object, const char* name);
void* find_data_of(const dl_phdr_info& object, const char* name);
// Whether the address is in the object. May be called with the loader's lock held.
bool contains(const dl_phdr_info& object, const void* address);
// The part after the last slash.
const char* file_name_of(const char* path);

// The first name under which the object that contains `address` exports the function there, or null. The
// text belongs to the object.
const char* find_name_of(const void* address);
// Whether the address is in any loaded object, and the number of unloads so far.
bool is_loaded(const void* address);
std::uint64_t count_unloads();

// Where a library keeps the address of a function of another one, which it calls by name (DT_JMPREL).
struct FunctionSlot {
  const char* name;
  std::uintptr_t* at;
};
// Calls `take` for each such slot of the loaded libraries for whose path `is_wanted` returns true. With the loader's
// lock held.
void for_each_function_slot(bool (*is_wanted)(const char* path), void (*take)(const FunctionSlot& slot));

// Whether the address is in the program itself, which comes before all libraries.
bool is_in_program(const void* address);

}  // namespace hbmscope::inject

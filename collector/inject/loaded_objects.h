// The symbols of the programs and libraries that are loaded, read from their own tables: dlsym can't be asked for
// itself, and answers with our own entry points where somebody else's are wanted.
#pragma once

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

// Whether it lies in the program itself, which stands in front of all libraries.
bool is_in_program(const void* address);

}  // namespace hbmscope::inject

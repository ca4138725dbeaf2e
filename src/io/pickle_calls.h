// The few Python functions that a pickle of tensors may call, each replaced by our own.
#pragma once

#include "io/pickle_value.h"

namespace headscope {

// The result of calling `callable` with `arguments`, as REDUCE does. Error that names the function unless it is known.
PickleValue& call_global(PickleArena& arena, const PickleValue& callable, const PickleValue& arguments);

// A new instance of a class, as NEWOBJ makes it: a dict, or an object without attributes. Any class may be named,
// because none is ever loaded. Error for arguments, which only code could interpret.
PickleValue& new_instance(PickleArena& arena, const PickleValue& type, const PickleValue& arguments);

// What torch.save writes in place of a storage: ("storage", class, key, location, elements).
PickleValue& persistent_storage(PickleArena& arena, const PickleValue& id);

}  // namespace headscope

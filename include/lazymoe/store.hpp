#pragma once

#include "experts/expert_map.hpp"
#include "store/all_resident.hpp"
#include "store/expert_store.hpp"
#include "store/forwarding_source.hpp"
#include "store/lease.hpp"
#include "store/policies.hpp"
#include "store/slot_plan.hpp"
#include "store/source.hpp"
#include "store/view.hpp"

namespace lazymoe {

using store::AllResident;
using store::DefaultPolicies;
using store::ExpertBudget;
using store::ExpertSource;
using store::ExpertStore;
using store::ForwardingSource;
using store::make_store;
using store::StoreOptions;

}  // namespace lazymoe

#include "policy.h"

#include <string.h>

const struct gv_policy *const gv_policies[] = {
    &gv_policy_max_min,
    &gv_policy_water_filling,
    &gv_policy_isolated,
    &gv_policy_proportional,
    &gv_policy_makespan,
    &gv_policy_finish_time,
    &gv_policy_max_sum,
    &gv_policy_min_cost,
    &gv_policy_per_dollar,
    &gv_policy_fifo,
    &gv_policy_fifo_greedy,
    &gv_policy_sjf,
    &gv_policy_strategy_proof,
    &gv_policy_allox,
    &gv_policy_gandiva,
    NULL,
};

const struct gv_policy *
gv_policy_find(const char *name)
{
	size_t i;

	for (i = 0; gv_policies[i] != NULL; i++)
		if (strcmp(gv_policies[i]->name, name) == 0)
			return gv_policies[i];
	return NULL;
}

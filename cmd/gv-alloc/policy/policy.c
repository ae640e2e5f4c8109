#include "policy.h"

#include <string.h>

const struct policy *const policies[] = {
    &policy_max_min,
    &policy_water_filling,
    &policy_isolated,
    &policy_proportional,
    &policy_makespan,
    &policy_finish_time,
    &policy_max_sum,
    &policy_min_cost,
    &policy_per_dollar,
    &policy_fifo,
    &policy_fifo_greedy,
    &policy_sjf,
    &policy_strategy_proof,
    &policy_allox,
    &policy_gandiva,
    NULL,
};

const struct policy *
policy_find(const char *name)
{
	size_t i;

	for (i = 0; policies[i] != NULL; i++)
		if (strcmp(policies[i]->name, name) == 0)
			return policies[i];
	return NULL;
}

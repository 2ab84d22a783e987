/**
 * Fairlead's gateway sets this environment variable for its servers. So a process knows that a gateway has started it,
 * directly or through other processes.
 */
export const parentVariable = "FAIRLEAD_PARENT";

/**
 * The environment variable by which a process can tell that a gateway has started it, directly or through other
 * processes.
 */
export const parentVariable = "FAIRLEAD_PARENT";

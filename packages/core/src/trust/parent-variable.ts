/** The environment variable that tells a server's process and its child processes that a gateway has started them. */
export const parentVariable = "FAIRLEAD_PARENT";

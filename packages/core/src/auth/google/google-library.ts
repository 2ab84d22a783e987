/** What is used of Google's library, by name: a bundle that splits gives a CommonJS package no names when it is imported late. */

export { Compute, ExternalAccountClient, gcpMetadata, Impersonated, JWT, UserRefreshClient } from "google-auth-library";

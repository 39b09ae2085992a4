"""The central optimizer: observations in, policy and plan out."""

"""The compiled engine: kernels over arrays, float numbers at any magnitude, shared graphlets."""

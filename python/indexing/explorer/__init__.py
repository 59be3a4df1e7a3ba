"""The explorer: a page served to browsers of this machine, on which plans of kernels are changed and predicted."""

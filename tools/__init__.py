"""Programs of the project itself, such as the ones that write generated documents."""

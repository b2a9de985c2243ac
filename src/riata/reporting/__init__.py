"""What people see of a fit: terminal, page, notebook."""

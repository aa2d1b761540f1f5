#include "everything.hpp"

int other_unit();

int other_unit() { return 0; }

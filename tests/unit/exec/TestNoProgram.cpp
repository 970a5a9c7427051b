// A shared object that could be opened, but is no program.
extern "C" int nnterp_main_of_another_name() { return 0; }

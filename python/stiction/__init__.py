"""Multibody simulation of robots and things that touch."""

package cst

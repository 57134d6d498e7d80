package goruntime

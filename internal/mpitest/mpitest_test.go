package mpitest_test

import (
	"os"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

; ModuleID = 'conditions.c'
source_filename = "conditions.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: noinline nounwind uwtable
define dso_local i32 @steps(double noundef %r, double noundef %tolerance, i32 noundef %n, i32 noundef %ready) #0 !dbg !10 {
entry:
  %retval = alloca i32, align 4
  %r.addr = alloca double, align 8
  %tolerance.addr = alloca double, align 8
  %n.addr = alloca i32, align 4
  %ready.addr = alloca i32, align 4
  %i = alloca i32, align 4
  store double %r, ptr %r.addr, align 8
  store double %tolerance, ptr %tolerance.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  store i32 %ready, ptr %ready.addr, align 4
  store i32 0, ptr %i, align 4, !dbg !13
  br label %while.cond, !dbg !14

while.cond:                                       ; preds = %if.end5, %entry
  %0 = load double, ptr %r.addr, align 8, !dbg !15
  %1 = load double, ptr %tolerance.addr, align 8, !dbg !16
  %cmp = fcmp ogt double %0, %1, !dbg !17
  br i1 %cmp, label %land.rhs, label %land.end, !dbg !18

land.rhs:                                         ; preds = %while.cond
  %2 = load i32, ptr %i, align 4, !dbg !19
  %3 = load i32, ptr %n.addr, align 4, !dbg !20
  %cmp1 = icmp slt i32 %2, %3, !dbg !21
  br label %land.end

land.end:                                         ; preds = %land.rhs, %while.cond
  %4 = phi i1 [ false, %while.cond ], [ %cmp1, %land.rhs ], !dbg !22
  br i1 %4, label %while.body, label %while.end, !dbg !14

while.body:                                       ; preds = %land.end
  %5 = load i32, ptr %ready.addr, align 4, !dbg !23
  %tobool = icmp ne i32 %5, 0, !dbg !23
  br i1 %tobool, label %if.end, label %if.then, !dbg !24

if.then:                                          ; preds = %while.body
  br label %while.end, !dbg !25

if.end:                                           ; preds = %while.body
  %6 = load double, ptr %r.addr, align 8, !dbg !26
  %cmp2 = fcmp olt double %6, 0.000000e+00, !dbg !27
  br i1 %cmp2, label %if.then4, label %lor.lhs.false, !dbg !28

lor.lhs.false:                                    ; preds = %if.end
  %7 = load i32, ptr %i, align 4, !dbg !29
  %cmp3 = icmp eq i32 %7, 3, !dbg !30
  br i1 %cmp3, label %if.then4, label %if.end5, !dbg !26

if.then4:                                         ; preds = %lor.lhs.false, %if.end
  store i32 4, ptr %retval, align 4, !dbg !31
  br label %return, !dbg !31

if.end5:                                          ; preds = %lor.lhs.false
  %8 = load i32, ptr %i, align 4, !dbg !32
  %inc = add nsw i32 %8, 1, !dbg !32
  store i32 %inc, ptr %i, align 4, !dbg !32
  br label %while.cond, !dbg !14, !llvm.loop !33

while.end:                                        ; preds = %if.then, %land.end
  br label %do.body, !dbg !36

do.body:                                          ; preds = %do.cond, %while.end
  %9 = load double, ptr %r.addr, align 8, !dbg !37
  %div = fdiv double %9, 2.000000e+00, !dbg !37
  store double %div, ptr %r.addr, align 8, !dbg !37
  br label %do.cond, !dbg !38

do.cond:                                          ; preds = %do.body
  %10 = load double, ptr %r.addr, align 8, !dbg !39
  %11 = load double, ptr %tolerance.addr, align 8, !dbg !40
  %cmp6 = fcmp ogt double %10, %11, !dbg !41
  br i1 %cmp6, label %do.body, label %do.end, !dbg !38, !llvm.loop !42

do.end:                                           ; preds = %do.cond
  %12 = load i32, ptr %i, align 4, !dbg !44
  %13 = load i32, ptr %n.addr, align 4, !dbg !45
  %cmp7 = icmp sgt i32 %12, %13, !dbg !46
  br i1 %cmp7, label %if.then8, label %if.else, !dbg !44

if.then8:                                         ; preds = %do.end
  %14 = load i32, ptr %i, align 4, !dbg !47
  call void @fail(i32 noundef %14), !dbg !48
  br label %if.end11, !dbg !48

if.else:                                          ; preds = %do.end
  %15 = load i32, ptr %ready.addr, align 4, !dbg !49
  %tobool9 = icmp ne i32 %15, 0, !dbg !49
  br i1 %tobool9, label %cond.true, label %cond.false, !dbg !49

cond.true:                                        ; preds = %if.else
  %16 = load i32, ptr %n.addr, align 4, !dbg !50
  %div10 = sdiv i32 %16, 2, !dbg !51
  br label %cond.end, !dbg !49

cond.false:                                       ; preds = %if.else
  %17 = load i32, ptr %n.addr, align 4, !dbg !52
  %add = add nsw i32 %17, 1, !dbg !53
  br label %cond.end, !dbg !49

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi i32 [ %div10, %cond.true ], [ %add, %cond.false ], !dbg !49
  store i32 %cond, ptr %i, align 4, !dbg !54
  br label %if.end11

if.end11:                                         ; preds = %cond.end, %if.then8
  %18 = load i32, ptr %i, align 4, !dbg !55
  %cmp12 = icmp eq i32 %18, 100, !dbg !56
  br i1 %cmp12, label %if.then13, label %if.end14, !dbg !55

if.then13:                                        ; preds = %if.end11
  call void @exit(i32 noundef 0) #2, !dbg !57
  unreachable, !dbg !57

if.end14:                                         ; preds = %if.end11
  br label %for.cond, !dbg !58

for.cond:                                         ; preds = %for.inc, %if.end14
  %19 = load double, ptr %r.addr, align 8, !dbg !59
  %cmp15 = fcmp olt double %19, 1.000000e+00, !dbg !60
  br i1 %cmp15, label %for.body, label %for.end, !dbg !58

for.body:                                         ; preds = %for.cond
  %20 = load i32, ptr %i, align 4, !dbg !61
  %inc16 = add nsw i32 %20, 1, !dbg !61
  store i32 %inc16, ptr %i, align 4, !dbg !61
  br label %for.inc, !dbg !62

for.inc:                                          ; preds = %for.body
  %21 = load double, ptr %r.addr, align 8, !dbg !63
  %mul = fmul double %21, 2.000000e+00, !dbg !63
  store double %mul, ptr %r.addr, align 8, !dbg !63
  br label %for.cond, !dbg !58, !llvm.loop !64

for.end:                                          ; preds = %for.cond
  %22 = load i32, ptr %i, align 4, !dbg !65
  store i32 %22, ptr %retval, align 4, !dbg !66
  br label %return, !dbg !66

return:                                           ; preds = %for.end, %if.then4
  %23 = load i32, ptr %retval, align 4, !dbg !67
  ret i32 %23, !dbg !67
}

; Function Attrs: noinline nounwind uwtable
define internal void @fail(i32 noundef %status) #0 !dbg !68 {
entry:
  %status.addr = alloca i32, align 4
  store i32 %status, ptr %status.addr, align 4
  %0 = load i32, ptr %status.addr, align 4, !dbg !69
  %cmp = icmp slt i32 %0, 0, !dbg !70
  br i1 %cmp, label %if.then, label %if.end, !dbg !69

if.then:                                          ; preds = %entry
  call void @abort() #2, !dbg !71
  unreachable, !dbg !71

if.end:                                           ; preds = %entry
  call void @exit(i32 noundef 1) #2, !dbg !72
  unreachable, !dbg !72
}

; Function Attrs: noreturn nounwind
declare void @exit(i32 noundef) #1

; Function Attrs: noreturn nounwind
declare void @abort() #1

attributes #0 = { noinline nounwind uwtable "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { noreturn nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { noreturn nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "conditions.c", directory: ".", checksumkind: CSK_MD5, checksum: "ae36ac913713865d4c7581ad00da1e11")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"frame-pointer", i32 2}
!9 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!10 = distinct !DISubprogram(name: "steps", scope: !1, file: !1, line: 10, type: !11, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !12)
!11 = !DISubroutineType(types: !12)
!12 = !{}
!13 = !DILocation(line: 12, column: 6, scope: !10)
!14 = !DILocation(line: 13, column: 2, scope: !10)
!15 = !DILocation(line: 13, column: 9, scope: !10)
!16 = !DILocation(line: 13, column: 13, scope: !10)
!17 = !DILocation(line: 13, column: 11, scope: !10)
!18 = !DILocation(line: 13, column: 23, scope: !10)
!19 = !DILocation(line: 13, column: 26, scope: !10)
!20 = !DILocation(line: 13, column: 30, scope: !10)
!21 = !DILocation(line: 13, column: 28, scope: !10)
!22 = !DILocation(line: 0, scope: !10)
!23 = !DILocation(line: 14, column: 8, scope: !10)
!24 = !DILocation(line: 14, column: 7, scope: !10)
!25 = !DILocation(line: 15, column: 4, scope: !10)
!26 = !DILocation(line: 16, column: 7, scope: !10)
!27 = !DILocation(line: 16, column: 9, scope: !10)
!28 = !DILocation(line: 16, column: 13, scope: !10)
!29 = !DILocation(line: 16, column: 16, scope: !10)
!30 = !DILocation(line: 16, column: 18, scope: !10)
!31 = !DILocation(line: 17, column: 4, scope: !10)
!32 = !DILocation(line: 18, column: 4, scope: !10)
!33 = distinct !{!33, !14, !34, !35}
!34 = !DILocation(line: 19, column: 2, scope: !10)
!35 = !{!"llvm.loop.mustprogress"}
!36 = !DILocation(line: 20, column: 2, scope: !10)
!37 = !DILocation(line: 21, column: 5, scope: !10)
!38 = !DILocation(line: 22, column: 2, scope: !10)
!39 = !DILocation(line: 22, column: 11, scope: !10)
!40 = !DILocation(line: 22, column: 15, scope: !10)
!41 = !DILocation(line: 22, column: 13, scope: !10)
!42 = distinct !{!42, !36, !43, !35}
!43 = !DILocation(line: 22, column: 24, scope: !10)
!44 = !DILocation(line: 23, column: 6, scope: !10)
!45 = !DILocation(line: 23, column: 10, scope: !10)
!46 = !DILocation(line: 23, column: 8, scope: !10)
!47 = !DILocation(line: 24, column: 8, scope: !10)
!48 = !DILocation(line: 24, column: 3, scope: !10)
!49 = !DILocation(line: 26, column: 7, scope: !10)
!50 = !DILocation(line: 26, column: 15, scope: !10)
!51 = !DILocation(line: 26, column: 17, scope: !10)
!52 = !DILocation(line: 26, column: 23, scope: !10)
!53 = !DILocation(line: 26, column: 25, scope: !10)
!54 = !DILocation(line: 26, column: 5, scope: !10)
!55 = !DILocation(line: 27, column: 6, scope: !10)
!56 = !DILocation(line: 27, column: 8, scope: !10)
!57 = !DILocation(line: 28, column: 3, scope: !10)
!58 = !DILocation(line: 29, column: 2, scope: !10)
!59 = !DILocation(line: 29, column: 9, scope: !10)
!60 = !DILocation(line: 29, column: 11, scope: !10)
!61 = !DILocation(line: 30, column: 4, scope: !10)
!62 = !DILocation(line: 30, column: 3, scope: !10)
!63 = !DILocation(line: 29, column: 18, scope: !10)
!64 = distinct !{!64, !58, !61, !35}
!65 = !DILocation(line: 31, column: 9, scope: !10)
!66 = !DILocation(line: 31, column: 2, scope: !10)
!67 = !DILocation(line: 32, column: 1, scope: !10)
!68 = distinct !DISubprogram(name: "fail", scope: !1, file: !1, line: 3, type: !11, scopeLine: 4, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, retainedNodes: !12)
!69 = !DILocation(line: 5, column: 6, scope: !68)
!70 = !DILocation(line: 5, column: 13, scope: !68)
!71 = !DILocation(line: 6, column: 3, scope: !68)
!72 = !DILocation(line: 7, column: 2, scope: !68)
